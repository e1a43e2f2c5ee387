# SPDX-License-Identifier: BSD-2-Clause
"""A training's accesses, made on the simulated chip: every value read is as foreseen."""

import contextlib

import pytest

from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.eda.integration.training_bench import bench_model
from hypercast.host.eda.integration.transcript import READ, WAIT, WRITE, transcript
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import Control, register
from hypercast.sim.cxxrtl_transport import CxxrtlTransport

TINY = PRESETS["tiny"]


@pytest.fixture(scope="module")
def accesses():
    return transcript(bench_model(TINY), TINY)


def test_on_the_simulated_chip(accesses):
    with contextlib.closing(CxxrtlTransport(TINY)) as chip:
        for number, (kind, address, value) in enumerate(accesses):
            if kind == WRITE:
                chip.write(address, value)
            elif kind == READ:
                assert chip.read(address) == value, f"access {number}, register {address:#x}"
            else:
                assert kind == WAIT
                for _ in range(1000):
                    if not chip.read(address) & value:
                        break
                    chip.wait(500)
                else:
                    pytest.fail(f"access {number} waits for ever")


def test_what_is_done(accesses):
    """The chip is asked what it is, runs a program for each step, and is then compared."""
    assert accesses[0][:2] == (READ, register("magic"))
    starts = [number for number, access in enumerate(accesses)
              if access == (WRITE, register("control"), Control.START)]
    assert len(starts) == sum(
        access.kind == WAIT and access.value != 0 for access in accesses)
    data = [access for access in accesses[starts[-1]:] if access.address == register("data")]
    assert sum(access.kind == READ for access in data) > 400
    assert WRITE not in {access.kind for access in data}
    assert len({access.value for access in data}) > 100


def test_what_does_not_fit():
    with pytest.raises(CapacityError):
        transcript(bench_model(TINY), TINY.replace(channel_words=64))
