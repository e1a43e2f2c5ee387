# SPDX-License-Identifier: BSD-2-Clause
"""The driver against registers alone."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.device_errors import DeviceError, DeviceTimeoutError, MismatchError
from hypercast.host.runtime.driver import Driver
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import INTERFACE_VERSION
from hypercast.rtl.isa import INSTRUCTION_WORDS, Engine, Opcode, encode
from hypercast.rtl.registers import Control, CoreSpace, Error, Space, Status, register
from tests.host.models import SMALL, small_graph, small_model
from tests.host.runtime.fake_chip import FakeChip, started

LIMIT = 5000
#: Cycles of a program that does not end.
ENDLESS = 1 << 62


@pytest.fixture(scope="module")
def job():
    return compile_job(small_model(), SMALL)


@pytest.mark.parametrize(("name", "message"), [
    ("magic", "expected 0x48435354: there is no Hypercast at this address"),
    ("version",
     f"expected {INTERFACE_VERSION:#010x}: the device was built from another version"),
    ("config_hash", f"expected {SMALL.hash:#010x}: the device was built for another "
                    f"configuration; use the preset"),
])
def test_another_device_is_refused(name, message):
    chip = FakeChip(SMALL, **{name: 0xFFFFFFFF})
    with pytest.raises(MismatchError, match=f"register {name} reads 0xffffffff, {message}"):
        Driver(chip, SMALL)
    assert not chip.writes


def test_job_for_another_configuration_is_refused(job):
    other = SMALL.replace(buffer_depth=8)
    chip = FakeChip(other)
    with pytest.raises(MismatchError, match=f"compiled for configuration {SMALL.hash:#010x}, the "
                                            f"device has {other.hash:#010x}; compile it again"):
        Driver(chip, other).load(job)
    assert not chip.writes


def test_load_through_the_window(job):
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    driver.load(job)
    program = chip.window[0, Space.PROGRAM]
    for row, instruction in enumerate(job.program):
        pieces = [program[row * 16 + index] for index in range(INSTRUCTION_WORDS)]
        assert sum(piece << 32 * index for index, piece in enumerate(pieces)) == instruction
    assert driver.exponents(job) == job.exponents
    assert [chip.window[core, Space.CORE][CoreSpace.ROWS] for core in range(2)] == [5, 4]
    model = small_model()
    assert np.array_equal(driver.matrix(job, FEATURES), model.sample.features.values)
    for name in job.weights:
        assert np.array_equal(driver.operand(job, name, 1), np.atleast_2d(model.operands()[name]))
        master, momentum = driver.optimiser(job, name)
        assert np.array_equal(master, np.atleast_2d(model.state.parameters[name]["master"]))
        assert not momentum.any()


def test_loading_clears_errors_of_what_was_there_before(job):
    """The exponent file, say, reports an entry that had changed, though no program runs."""
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    chip["error"] = Error.PROGRAM | Error.MEMORY
    driver.load(job)
    assert chip["error"] == 0


def test_loading_resets_a_chip_that_did_not_finish(job):
    chip = FakeChip(SMALL, cycles=ENDLESS)
    driver = Driver(chip, SMALL)
    driver.load(job)
    assert (register("control"), Control.RESET) not in chip.writes
    with pytest.raises(DeviceTimeoutError):
        driver.run(job.starts["train"], limit=1)
    with pytest.raises(DeviceError, match="is running a program"):
        driver.patch(0, 0)
    for resets in (1, 1):  # the second load finds it clean
        driver.load(job)
        assert chip.writes.count((register("control"), Control.RESET)) == resets


def test_matrix_of_cores_without_vertices():
    model = small_model(small_graph(vertices=1, classes=1))
    job = compile_job(model, SMALL)
    driver = Driver(FakeChip(SMALL), SMALL)
    driver.load(job)
    assert np.array_equal(driver.matrix(job, FEATURES), model.sample.features.values)


def test_patch(job):
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    driver.patch(3, 0x12345678 << 32 | 0x9ABCDEF0)
    program = chip.window[0, Space.PROGRAM]
    assert [program[48 + index] for index in range(INSTRUCTION_WORDS)] == \
        [0x9ABCDEF0, 0x12345678] + [0] * (INSTRUCTION_WORDS - 2)


def test_only_what_differs_in_a_program_is_written():
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    old, new = (encode(Opcode.MATMUL, address=address) for address in (3, 70))
    for row in (0, 1, 2):
        driver.patch(row, old)
    written = len(chip.writes)
    pieces = [index for index in range(INSTRUCTION_WORDS) if (old ^ new) >> 32 * index & 0xFFFFFFFF]
    driver.update_program({0: old, 1: new})
    driver.update_program({1: new, 2: old})
    assert len(chip.writes) == written + 3 + pieces[-1] - pieces[0] + 1 < written + 16
    program = chip.window[0, Space.PROGRAM]
    for row, instruction in enumerate((old, new, old)):
        assert instruction == sum(
            program[16 * row + piece] << 32 * piece for piece in range(INSTRUCTION_WORDS))


def test_a_job_replaces_the_program(job):
    driver = Driver(FakeChip(SMALL), SMALL)
    driver.patch(len(job.program), encode(Opcode.HALT))
    driver.load(job)
    driver.run(job.starts["train"], limit=LIMIT)
    with pytest.raises(DeviceError, match="there is no program at row"):
        driver.run(len(job.program), limit=LIMIT)


@pytest.mark.parametrize(("register_name", "value", "message"), [
    ("status", Status.RUNNING, "the device is running a program, perhaps of another process"),
    ("busy", 1 << Engine.ARRAY, r"engines of the device are still busy \(array\)"),
])
@pytest.mark.parametrize("use", [
    lambda driver, job: driver.load(job), lambda driver, job: driver.load_sample(job),
    lambda driver, job: driver.patch(0, 0), lambda driver, job: driver.set_step(1, 2),
    lambda driver, job: driver.write_window(0, Space.PROGRAM, 0, [1]),
    lambda driver, job: driver.write_words(0, Space.FEATURES, 0, np.zeros((1, SMALL.chunks))),
    lambda driver, job: driver.run(17, limit=LIMIT),
], ids=["load", "load_sample", "patch", "set_step", "write_window", "write_words", "run"])
def test_a_chip_at_work_is_left_alone(job, use, register_name, value, message):
    chip = FakeChip(SMALL)
    driver = started(chip)
    chip[register_name] = value
    written = len(chip.writes)
    with pytest.raises(DeviceError, match=message):
        use(driver, job)
    assert len(chip.writes) == written


@pytest.mark.parametrize(("error", "void"), [
    (Error.MEMORY, True), (Error.MEMORY | Error.EXPONENT, True), (Error.EXPONENT, False),
    (Error(0), False)])
def test_words_that_had_changed_are_void(job, error, void):
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    driver.load(job)
    chip["error"] = error
    if void:
        with pytest.raises(DeviceError, match="what was read is void"):
            driver.read_words(0, Space.FEATURES, 0, 1)
    else:
        assert len(driver.read_words(0, Space.FEATURES, 0, 1)) == 1


@pytest.mark.parametrize("early", [False, True])
def test_row_counts_are_brought_early_where_there_is_room(job, early):
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    driver.load(job)
    counts = [memory for (_, space), memory in chip.window.items() if space == Space.CORE]
    for memory in counts:
        memory.clear()
    driver.load_beside(replace(job, row_entries=(0, int(early))))
    assert all(bool(memory) == early for memory in counts) and counts
