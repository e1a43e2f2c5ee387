# SPDX-License-Identifier: BSD-2-Clause
"""The compiled chip: what a reset does to it, and several groups of cores, by several threads."""

import contextlib

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.comparison import compare
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import Space, register
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import GraphTraining, random_graph

TINY = PRESETS["tiny"]


def look(chip, address):
    for name, value in (("core", 1), ("space", Space.FEATURES), ("address", address)):
        chip.write(register(name), value)


def test_a_reset_clears_registers_and_leaves_memories():
    with contextlib.closing(CxxrtlTransport(TINY)) as chip:
        look(chip, 7)
        chip.write(register("data"), 0x12345678)
        chip.reset()
        assert chip.read(register("core")) == chip.read(register("address")) == 0
        look(chip, 7)
        assert chip.read(register("data")) == 0x12345678


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_groups_of_cores(threads):
    config = PRESETS["demo"]
    model = GraphTraining(graph=random_graph(40, 120, features=9, classes=3, seed=1),
                          config=config, hidden=(5,)).model()
    reference = ReferenceDevice(model)
    with contextlib.closing(CxxrtlTransport(config, threads=threads)) as transport:
        device = AloneChip(transport, compile_job(model, config), model)
        for _ in range(2):
            device.train_step()
            reference.train_step()
        words = compare(reference.snapshot(), device.snapshot(), config.lanes)
    assert words.words and words.equal == words.words, str(words)
