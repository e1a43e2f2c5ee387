# SPDX-License-Identifier: BSD-2-Clause
"""Runs of programs, against registers alone."""

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.device_errors import DeviceError, DeviceTimeoutError
from hypercast.host.runtime.driver import Driver
from hypercast.rtl.isa import STEP_KEY_INCREMENT, Engine, Opcode, decode, encode
from hypercast.rtl.limits import PATIENCE
from hypercast.rtl.registers import LIMIT_UNIT, Control, Error, register
from tests.host.models import SMALL, small_model
from tests.host.runtime.fake_chip import FakeChip, started

LIMIT = 5000
#: Cycles of a program that does not end.
ENDLESS = 1 << 62


@pytest.fixture(scope="module")
def job():
    return compile_job(small_model(), SMALL)


def test_run():
    chip = FakeChip(SMALL)
    assert started(chip).run(17, repeat=3, limit=LIMIT) == chip["cycles_low"] >= 1200
    assert (chip["entry"], chip["repeat"]) == (17, 3)


@pytest.mark.parametrize(("repeat", "limit", "units"), [
    (1, 1, 1), (1, LIMIT_UNIT, 1), (1, LIMIT_UNIT + 1, 2), (3, LIMIT_UNIT, 3), (7, 100, 3),
    (1, LIMIT_UNIT << 32, 0xFFFFFFFF), (1, LIMIT_UNIT << 40, 0xFFFFFFFF)])
def test_the_chip_is_told_what_a_program_may_move(repeat, limit, units):
    """Before it is started; all repeats together; as much as the register holds."""
    chip = FakeChip(SMALL)
    started(chip).run(17, repeat=repeat, limit=limit)
    written = [value for address, value in chip.writes if address == register("limit")]
    assert written == [units]
    assert chip.writes.index((register("limit"), units)) < chip.writes.index(
        (register("control"), Control.START))


def test_a_runaway_is_told_from_other_errors():
    chip = FakeChip(SMALL, error=Error.RUNAWAY)
    with pytest.raises(DeviceError, match=(
            r"RUNAWAY: 512>: something moved in more cycles than in any run of this program: what "
            r"has to run before it did not, or .*; results are void, load the device again, which "
            r"resets it; program row")):
        started(chip).run(17, limit=LIMIT)


def test_a_chip_whose_clock_stands_still(monkeypatch):
    chip = FakeChip(SMALL)
    driver = started(chip)
    monkeypatch.setattr(chip, "wait", lambda cycles: None)
    with pytest.raises(DeviceTimeoutError, match="counts no cycles; check its clock; program row"):
        driver.run(17, limit=LIMIT)
    assert chip.writes[-1] == (register("control"), Control.STOP)


@pytest.mark.parametrize(("entry", "row"), [(16, 16), (18, 19), (20, 20), (0xFFFFFFFF, 0xFFFFFFFF)])
def test_a_program_that_was_not_loaded_is_not_started(entry, row):
    chip = FakeChip(SMALL)
    driver = started(chip, encode(Opcode.HALT), encode(Opcode.MATMUL))
    written = len(chip.writes)
    with pytest.raises(DeviceError, match=f"there is no program at row {entry}: row {row} was not"):
        driver.run(entry, limit=LIMIT)
    assert len(chip.writes) == written


def test_training_steps_are_counted(job):
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    driver.load(job)
    driver.set_step(0xFFFFFFFF, 5)
    driver.run(job.starts["evaluate"], limit=LIMIT)
    assert (chip["step"], chip["step_key"]) == (0xFFFFFFFF, 5)
    driver.run(job.starts["train"], limit=LIMIT)
    assert (chip["step"], chip["step_key"]) == (0, STEP_KEY_INCREMENT + 5)


@pytest.mark.parametrize(("entry", "name", "change", "message"), [
    ("train", "step", -1, "step is 0x3, not 0x4"),
    ("train", "step", 1, "step is 0x5, not 0x4"),
    ("evaluate", "step", 1, "step is 0x4, not 0x3"),
    ("train", "step_key", 1, f"step_key is {STEP_KEY_INCREMENT + 8:#x}, not "
                             f"{STEP_KEY_INCREMENT + 7:#x}"),
])
def test_a_step_that_is_counted_otherwise_is_found(job, entry, name, change, message, monkeypatch):
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    driver.load(job)
    driver.set_step(3, 7)
    count = chip._count

    def miscount():
        count()
        chip[name] += change
    monkeypatch.setattr(chip, "_count", miscount)
    with pytest.raises(DeviceError, match=rf"lost count of training steps \({message}\): the "
                                          r"program did not do .* void; load the device again"):
        driver.run(job.starts[entry], limit=LIMIT)


def test_a_chip_that_was_reset_is_found(job):
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    driver.load(job)
    driver.set_step(3, 7)
    driver.run(job.starts["train"], limit=LIMIT)
    chip["step"] = 0
    with pytest.raises(DeviceError, match=r"\(step is 0x0, not 0x4\): it was reset, or another"):
        driver.run(job.starts["train"], limit=LIMIT)


def test_step_key_is_cut_to_32_bits():
    chip = FakeChip(SMALL)
    Driver(chip, SMALL).set_step(3, 1 << 40 | 7)
    assert (chip["step"], chip["step_key"]) == (3, 7)


def test_timeout_is_reported_with_state():
    """A sound chip ends a program itself, so only a broken one is given up."""
    chip = FakeChip(SMALL, cycles=ENDLESS, pc=12, step=4, waits=1 << Engine.REDUCTION)
    driver = started(chip)
    start, most = chip.wait, (LIMIT_UNIT + 2) * PATIENCE

    def work(cycles):
        chip["busy"] = 1 << Engine.REDUCTION | 1 << Engine.ARRAY
        start(cycles)
    chip.wait = work
    with pytest.raises(DeviceTimeoutError, match=(
            rf"did not finish within {most} cycles, though it should have stopped by itself; load "
            r"its bitstream again; program row 12, waiting for reduction, busy: array, reduction, "
            r"step 4, \d+ cycles")):
        driver.run(17, limit=1)
    assert most < driver.monitor.cycles() <= most + 500
    assert chip.writes[-1] == (register("control"), Control.STOP)


def test_errors_are_reported_and_cleared(job):
    row = job.starts["evaluate"] - 2
    chip = FakeChip(SMALL, error=Error.EXPONENT | Error.NETWORK, pc=row)
    driver = Driver(chip, SMALL)
    driver.load(job)
    name = decode(job.program[row])["opcode"].name
    with pytest.raises(DeviceError, match=rf"stopped with error <Error\.EXPONENT\|NETWORK: 18>: "
                                          rf"numbers grew .* scale the features down; "
                                          rf"results are void, .*; program row {row} \({name}\), "
                                          rf"waiting for none"):
        driver.run(0, limit=LIMIT)
    assert chip["error"] == 0
