# SPDX-License-Identifier: BSD-2-Clause
"""No program goes on for ever; what stops one is reported with the chip's last state."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.movement import most_moves
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.device_errors import DeviceError, DeviceTimeoutError
from hypercast.host.runtime.driver import Driver
from hypercast.rtl.isa import Opcode, decode
from hypercast.rtl.limits import PATIENCE
from hypercast.rtl.registers import CoreSpace, Space
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import NARROW, GraphTraining, random_graph


def training():
    return GraphTraining(graph=random_graph(12, 30), config=NARROW, hidden=(3,)).model()


@pytest.fixture
def device():
    """A loaded chip, to be sabotaged."""
    model = training()
    device = AloneChip(CxxrtlTransport(NARROW), compile_job(model, NARROW), model)
    device.job, device.model = compile_job(model, NARROW), model
    yield device
    device.close()


def find(device, opcode):
    """Row and fields of the training step's first ``opcode`` that does not prefetch."""
    fields = [decode(word) for word in device.job.instructions("train")]
    row = next(row for row, entry in enumerate(fields)
               if entry["opcode"] == opcode and not entry.get("prefetch"))
    return device.job.starts["train"] + row, fields[row]


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
    """The chip is sound but stopped; its last state is reported."""
    with pytest.raises(DeviceError, match=(
            r"RUNAWAY: 512.*more cycles than in any run of this program.*; program row \d+ "
            r"\(\w+\), waiting for .*, busy: .*, step")):
        device.driver.run(device.job.start("train"), limit=512)
    device.driver.load(device.job)  # resets it
    device.driver.run(device.job.start("load"), limit=512)
    device.train_step()


def run(driver, job, entry):
    """Run a program of the job; returns what stopped it, or None."""
    try:
        driver.run(job.start(entry), limit=most_moves(job, entry))
    except DeviceError as error:
        assert not isinstance(error, DeviceTimeoutError), error
        return str(error)
    return None


@pytest.mark.parametrize("entry", ["train", "evaluate"])
def test_what_is_started_before_the_program_that_loads(entry):
    """The array would feed itself with words that were never stored, for ever."""
    job = compile_job(training(), NARROW)
    transport = CxxrtlTransport(NARROW)
    driver, limit = Driver(transport, NARROW), most_moves(job, entry)
    driver.load(job)
    assert "RUNAWAY" in run(driver, job, entry)
    assert limit / 2 < driver.monitor.cycles() < 2 * limit
    for other in ("load", "train", "evaluate"):
        with pytest.raises(DeviceError, match="engines of the device are still busy"):
            driver.run(job.start(other), limit=1)
    driver.load(job)
    assert [run(driver, job, other) for other in ("load", entry)] == [None, None]
    transport.close()


def test_programs_end_whatever_they_find_in_memory(device):
    """Lists, rows and row counts at random: each ends by itself, or is stopped with a reason."""
    rng = np.random.default_rng(3)
    job, driver, reasons = device.job, device.driver, Counter()
    for trial in range(12):
        driver.load(job)
        assert run(driver, job, "load") is None
        core, entry = trial % NARROW.cores, ("train", "evaluate")[trial // 2 % 2]
        space = (Space.GRADIENTS, Space.FEATURES, Space.CORE)[trial % 3]
        if space == Space.CORE:
            driver.write_window(core, space, CoreSpace.ROWS,
                                rng.integers(1 << 20, size=NARROW.row_counts))
        else:
            bits = 1 << int(rng.integers(1, 33))  # small numbers are plausible ones
            driver.write_words(core, space, 0, rng.integers(bits, size=(
                NARROW.channel_words, NARROW.chunks)).astype(np.uint32))
        error = run(driver, job, entry)
        reasons[error and error[:error.index(">")]] += 1
        assert driver.monitor.cycles() <= 2 * most_moves(job, entry) + 2 * PATIENCE, reasons
    assert reasons[None] and any("RUNAWAY" in str(reason) for reason in reasons), reasons


def test_unknown_opcode(device):
    row = device.job.starts["train"] + 3
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
