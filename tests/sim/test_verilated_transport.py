# SPDX-License-Identifier: BSD-2-Clause
"""The exported chip under Verilator, as a transport: a training has the reference's bits."""

import contextlib

import pytest

from hypercast import Device, Graph, Model, Trainer
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import register
from hypercast.sim.simulators import missing
from hypercast.sim.verilated_transport import VerilatedTransport

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(bool(missing("verilator")), reason=str(missing("verilator")))]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_training(threads):
    with contextlib.closing(VerilatedTransport(PRESETS["tiny"], threads=threads)) as chip:
        with pytest.raises(TransportError, match="0xffc cannot be written"):
            chip.write(0xffc, 1)
        assert chip.read(register("config_hash")) == PRESETS["tiny"].hash
        with Trainer(Graph.load("karate"), Model(hidden=2), Device(preset="tiny"), epochs=1,
                     check=True, transport=chip) as trainer:
            trainer.fit()
            assert trainer.words.equal == trainer.words.words > 0
