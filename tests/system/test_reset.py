# SPDX-License-Identifier: BSD-2-Clause
"""A chip that was broken off, whatever it did, is as good as new after a reset by its register."""

import random

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.chip_reset import reset_chip
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.registers import LIMIT_UNIT, Control, register
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from hypercast.sim.faults import Fault, FaultKind
from tests.system.chips import WIDE, GraphTraining, random_graph


@pytest.fixture(scope="module")
def training():
    """A model, its job, a chip, and what two steps give."""
    model = GraphTraining(graph=random_graph(24, 60), config=WIDE, hidden=(4,)).model()
    reference = ReferenceDevice(model)
    for _ in range(2):
        reference.train_step()
    transport = CxxrtlTransport(WIDE)
    yield model, compile_job(model, WIDE), transport, reference.snapshot()
    transport.close()


def check(training):
    """Load the chip and train: two steps end in the reference's bits."""
    model, job, transport, expected = training
    device = AloneChip(transport, job, model)
    for _ in range(2):
        device.train_step()
    found = device.snapshot()
    assert all((found[name] == value).all() for name, value in expected.items())
    return device


def test_a_program_that_was_given_up(training):
    """At once, and in the middle of a step; the next load resets the chip."""
    model, job, transport, _ = training
    for moves in (0, LIMIT_UNIT):
        device = AloneChip(transport, job, model)
        with pytest.raises(DeviceError, match="RUNAWAY"):
            device.driver.run(job.start("train"), limit=moves)
        device.driver.load(job)
        check(training)


def test_a_program_that_was_stopped(training):
    """At any moment; engines end what they do, and the next session begins with a reset."""
    _, job, transport, _ = training
    rng = random.Random(1)
    for _ in range(4):
        check(training)
        transport.write(register("entry"), job.starts["train"])
        transport.write(register("control"), Control.START)
        transport.wait(rng.randrange(1, 600))
        transport.write(register("control"), Control.STOP)
        reset_chip(transport)
        check(training)


def test_a_host_that_was_killed(training):
    """The program still runs when the next session begins, which resets the chip."""
    _, job, transport, _ = training
    rng = random.Random(2)
    for _ in range(6):
        device = check(training)
        transport.write(register("entry"), job.starts["train"])
        transport.write(register("control"), Control.START)
        transport.wait(rng.randrange(1, 700))
        with pytest.raises(DeviceError, match="is running a program"):
            device.driver.patch(0, 0)
        reset_chip(transport)
        check(training)


def test_a_flit_that_was_lost(training):
    """The chip stands still, with engines busy for good; loading resets it."""
    _, job, transport, _ = training
    device = check(training)
    transport.inject(Fault(cycle=300, core=0, dimension=0, kind=FaultKind.DROP, bit=0))
    with pytest.raises(DeviceError, match="load the device again, which resets it"):
        device.train_step()
    device.driver.load(job)
    check(training)


def test_nothing_else_is_done_meanwhile(training):
    """The window is refused, and a program is not started."""
    *_, transport, _ = training
    transport.write(register("control"), Control.RESET)
    transport.write(register("control"), Control.START)
    with pytest.raises(TransportError, match="was refused"):
        transport.read(register("data"))
    reset_chip(transport)
    check(training)
