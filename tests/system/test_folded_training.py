# SPDX-License-Identifier: BSD-2-Clause
"""A board whose chip is folded, UART pins included: the bits and cycles of the chip itself."""

import pytest

from hypercast.benches.trainings import BenchTraining, compare_training
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.serial.serial_transport import SerialTransport
from hypercast.rtl.config import PRESETS
from hypercast.sim.serial_board import SimulatedSerialBoard
from hypercast.sim.simulators import missing

CONFIG = PRESETS["ulx3s"].replace(dimensions=3)
TRAINING = BenchTraining(dataset="karate", config=CONFIG, epochs=2, hidden=(4,))


def train(board):
    """Cycles of a training that ends with the reference's words."""
    def open_chip(model):
        transport = SerialTransport(board)
        transport.reset()
        return AloneChip(transport, compile_job(model, CONFIG), model)

    words, _, cycles = compare_training(TRAINING, open_chip)
    assert words.equal == words.words > 0, words.first_difference
    return cycles


@pytest.mark.slow  # compiles two boards
@pytest.mark.skipif(missing("verilator") is not None, reason=f"{missing('verilator')}")
def test_a_folded_chip_is_the_chip():
    folded = SimulatedSerialBoard(CONFIG, folded=True)
    folded.advance(1001, 1)
    folded.press_reset()  # in the midst of a cycle of the chip
    assert train(folded) == train(SimulatedSerialBoard(CONFIG))
