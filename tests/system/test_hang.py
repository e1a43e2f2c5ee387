"""A chip that does not finish, or stops with an error, is reported with its last state."""

from dataclasses import replace

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.devices import ChipDevice
from hypercast.host.runtime.driver import DeviceError, DeviceTimeoutError
from hypercast.rtl.isa import Opcode, decode
from hypercast.rtl.registers import Space
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import NARROW, GraphTraining, random_graph


@pytest.fixture
def device():
    """A loaded chip, to be sabotaged."""
    model = GraphTraining(graph=random_graph(12, 30), config=NARROW, hidden=(3,)).model()
    device = ChipDevice(CxxrtlTransport(NARROW), compile_job(model, NARROW), model, limit=20_000)
    device.job, device.model = compile_job(model, NARROW), model
    yield device
    device.close()


def find(device, opcode):
    """Row and fields of the training step's first ``opcode`` that does not prefetch."""
    fields = [decode(word) for word in device.job.instructions("train")]
    row = next(row for row, entry in enumerate(fields)
               if entry["opcode"] == opcode and not entry.get("prefetch"))
    return device.job.entries["train"] + row, fields[row]


def test_edges_that_never_come(device):
    """Core 1 is told to expect one edge more than its streams hold."""
    _, entry = find(device, Opcode.AGGREGATE)
    total = device.driver.read_words(1, Space.GRADIENTS, entry["edge_set"], 1)
    device.driver.write_words(1, Space.GRADIENTS, entry["edge_set"], total + 1)
    with pytest.raises(DeviceError, match=(
            r"STALLED: 64.*nothing moved any more.*; program row \d+ \(\w+\), waiting for "
            r"aggregate, busy: aggregate, step 0, 1\d{4} cycles")):
        device.train_step()


def test_a_limit_too_low(device):
    """The chip is sound but given up; its last state is reported."""
    device = ChipDevice(CxxrtlTransport(NARROW), device.job, device.model, limit=200)
    with pytest.raises(DeviceTimeoutError, match=(
            r"did not finish within 200 cycles; program row \d+, waiting for .*, busy: .*, step")):
        device.train_step()
    device.close()


def test_unknown_opcode(device):
    row = device.job.entries["train"] + 3
    device.driver.patch(row, 0xF)
    with pytest.raises(DeviceError, match=rf"error <Error\.OPCODE: 1>; program row {row}, "):
        device.train_step()
    device.driver.patch(row, device.job.program[row])
    device.train_step()  # the error was cleared


def test_exponent_out_of_range(device):
    row, _ = find(device, Opcode.DRAIN)
    device.job = replace(device.job, exponents=device.job.exponents | {"X": 100})
    device.driver.load(device.job)
    with pytest.raises(DeviceError, match=rf"EXPONENT: 2>: .*; program row {row} \(DRAIN\)"):
        device.train_step()
