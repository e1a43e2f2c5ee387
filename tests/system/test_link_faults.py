# SPDX-License-Identifier: BSD-2-Clause
"""Faulty links in the whole chip: each ends in an error within a bounded time, or does no harm."""

import random

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.rtl.layouts import flit
from hypercast.rtl.limits import PATIENCE
from hypercast.rtl.network.topology import links
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from hypercast.sim.faults import Fault, FaultKind
from tests.system.chips import WIDE, GraphTraining, random_graph

#: Cycles within which a training step of ``training`` ends if nothing is wrong.
STEP = 2_400


def training():
    return GraphTraining(graph=random_graph(24, 60), config=WIDE, hidden=(4,)).model()


def chip(*faults):
    """A loaded chip, then faulty."""
    model = training()
    transport = CxxrtlTransport(WIDE)
    device = AloneChip(transport, compile_job(model, WIDE), model)
    for fault in faults:
        transport.inject(fault)
    return device


@pytest.fixture(scope="module")
def reference():
    """What one step gives."""
    device = ReferenceDevice(training())
    device.train_step()
    return device.snapshot()


def test_the_step_is_as_short_as_assumed():
    device = chip()
    device.train_step()
    assert device.train_cycles <= STEP
    device.close()


@pytest.mark.parametrize("kind", FaultKind)
def test_no_fault_goes_unnoticed(kind, reference):
    rng = random.Random(kind)
    reported = 0
    for _ in range(8):
        core, dimension = rng.choice(links(WIDE.dimensions))
        fault = Fault(cycle=rng.randrange(STEP // 2), core=core, dimension=dimension, kind=kind,
                      bit=rng.randrange(flit(WIDE).size))
        device = chip(fault)
        try:
            device.train_step()
        except DeviceError as error:
            assert device.driver.monitor.cycles() <= STEP + 2 * PATIENCE, fault
            assert "load the device again, which resets it" in str(error), fault
            reported += 1
        else:
            got = device.snapshot()
            assert all((got[name] == expected).all() for name, expected in reference.items()), fault
        finally:
            device.close()
    assert reported >= 2  # a bit that is stuck at what it is anyway does no harm


def test_a_corrupted_flit_names_the_core():
    device = chip(Fault(cycle=0, core=1, dimension=1, kind=FaultKind.FLIP, bit=20))
    with pytest.raises(DeviceError, match=r"LINK.*corrupted over links to cores 3; "):
        device.train_step()
    device.close()


def test_lost_credits_are_a_standstill():
    device = chip(Fault(cycle=0, core=0, dimension=0, kind=FaultKind.HOLD))
    with pytest.raises(DeviceError, match=r"STALLED: 64.*nothing moved any more.*busy: .*aggreg"):
        device.train_step()
    device.close()
