# SPDX-License-Identifier: BSD-2-Clause
"""The C driver against registers alone: what it writes, what it refuses, what it reports."""

import zlib

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.movement import most_moves
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.image import HEADER, NO_ENTRY, limit_of, write_image
from hypercast.host.transport.transport import TransportError
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.rtl.limits import PATIENCE
from hypercast.rtl.registers import (
    COUNTERS,
    LIMIT_UNIT,
    Control,
    CoreSpace,
    Error,
    Space,
    Status,
    register,
)
from tests.examples.c_driver import CDriver, CDriverError, PolledChip
from tests.host.models import SMALL, small_model

RECIPE = {"schedule": ((2, 0.5),)}
MODEL = small_model(**RECIPE)
JOB = compile_job(MODEL, SMALL)


def checked(image):
    """An image whose check sequence is right."""
    return image[:4] + zlib.crc32(image[8:]).to_bytes(4, "little") + image[8:]


def with_word(image, index, value):
    """An image with another word, and its check sequence."""
    return checked(image[:4 * index] + value.to_bytes(4, "little") + image[4 * index + 4:])


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "job.image"
    write_image(path, JOB, small_model(**RECIPE))
    return path.read_bytes()


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """Compiles and opens the driver of a chip."""
    folder = tmp_path_factory.mktemp("driver")
    return lambda chip: CDriver(folder, SMALL, chip)


def test_load_is_what_the_python_driver_loads(driver, image):
    chip, expected = PolledChip(SMALL), PolledChip(SMALL)
    driver(chip).load(image)
    Driver(expected, SMALL).load(JOB)
    assert chip.window == expected.window
    assert (chip["step"], chip["step_key"]) == (0, MODEL.recipe.seed)
    assert ((register("control"), Control.START) in chip.writes) == ("load" in JOB.starts)


def test_learning_rates_change_with_the_step(driver, image):
    chip = PolledChip(SMALL)
    device = driver(chip)
    device.load(image)
    program = dict(chip.window[0, Space.PROGRAM])
    assert device.steps() == MODEL.recipe.epochs
    for step in range(device.steps()):
        device.train()
        assert chip["entry"] == JOB.starts["train"]
        assert (chip.window[0, Space.PROGRAM] != program) == (step >= 2), step
    device.evaluate()
    assert chip["entry"] == JOB.starts["evaluate"]
    assert device.cycles() == 1500


def test_parameters(driver, image):
    device = driver(PolledChip(SMALL))
    device.load(image)
    tensors = FixedGnn(MODEL).tensors
    for (elements, exponent), name in zip(device.parameters(), JOB.weights, strict=True):
        assert np.array_equal(elements, np.atleast_2d(tensors[name])), name
        assert exponent == JOB.exponents[name]


def test_counters(driver):
    chip = PolledChip(SMALL)
    for core in range(SMALL.cores):
        chip.window[core, Space.CORE] = {
            CoreSpace.COUNTERS + index: 0xFFFFFF00 + core + index for index in range(len(COUNTERS))}
    device = driver(chip)
    for index in range(len(COUNTERS)):
        assert device.counter(index) == 2 * (0xFFFFFF00 + index) + 1


@pytest.mark.parametrize(("name", "message"), [
    ("magic", "there is no Hypercast at this address"),
    ("version", "chip and image are of different versions of Hypercast"),
    ("config_hash", "not of one configuration; make all with the same options"),
])
def test_another_chip_is_refused(driver, name, message):
    chip = PolledChip(SMALL, **{name: 0xFFFFFFFF})
    with pytest.raises(CDriverError, match=message):
        driver(chip)
    assert not chip.writes


@pytest.mark.parametrize(("damage", "message"), [
    (lambda image: image[:7], "only a part of one"),
    (lambda image: image[:48], "only a part of one"),
    (lambda image: image[:len(image) // 2], "only a part of one"),
    (lambda image: b"    " + image[4:], "this is no image"),
    (lambda image: image[:8] + b"\xff" + image[9:], "different versions"),
    (lambda image: image[:12] + b"    " + image[16:], "not of one configuration"),
    (lambda image: b"", "only a part of one"),
    (lambda image: image[:-1], "only a part of one"),
    (lambda image: checked(image[:-4]), "only a part of one"),
    (lambda image: checked(image + bytes(4)), "only a part of one"),
    (lambda image: checked(image + bytes(1)), "only a part of one"),
    (lambda image: with_word(image, HEADER.index("parameters"), 0xFFFFFFFF), "only a part of one"),
    (lambda image: with_word(image, HEADER.index("blocks"), 0xFFFFFFFF), "only a part of one"),
    (lambda image: image[:1000] + bytes([image[1000] ^ 1]) + image[1001:], "or was changed"),
])
def test_another_image_is_refused(driver, image, damage, message):
    """All of it is checked before anything is written."""
    chip = PolledChip(SMALL)
    device = driver(chip)
    with pytest.raises(CDriverError, match=message):
        device.load(damage(image))
    assert not chip.writes


def test_an_error_of_the_program(driver, image):
    chip = PolledChip(SMALL, error=Error.EXPONENT | Error.NETWORK)
    device = driver(chip)
    with pytest.raises(CDriverError, match="stopped with an error"):
        device.load(image)  # the job has a program that loads operands
    assert device.chip.error == Error.EXPONENT | Error.NETWORK
    assert chip["error"] == 0


def test_a_program_that_does_not_end(driver, image):
    chip = PolledChip(SMALL, cycles=1 << 62)
    device = driver(chip)
    with pytest.raises(CDriverError, match="should have stopped it by itself"):
        device.load(image)
    most = chip["limit"] * LIMIT_UNIT * PATIENCE
    assert most < device.cycles() < 2 * most
    assert chip.writes[-1] == (register("control"), Control.STOP)


def test_each_program_is_started_with_the_limit_of_the_longest(driver, image):
    chip = PolledChip(SMALL)
    device = driver(chip)
    device.load(image)
    device.train()
    limits = [value for address, value in chip.writes if address == register("limit")]
    assert limits == [limit_of(max(most_moves(JOB, entry) for entry in JOB.starts))] * 2


@pytest.mark.parametrize("error", Error)
def test_what_stopped_a_program_in_words(driver, error):
    """Each has words of its own, that end with what to do; the name is in them, or is meant."""
    device = driver(PolledChip(SMALL))
    texts = {}
    for one in Error:
        device.chip.error = one
        texts[one] = device.cause()
    assert len(set(texts.values())) == len(Error) and "nothing" not in texts.values()
    device.chip.error = error | Error.WINDOW
    assert device.cause() == texts[error]
    assert error == Error.WINDOW or "; " in texts[error]



@pytest.mark.parametrize("entry", [NO_ENTRY, len(JOB.program)])
@pytest.mark.parametrize("name", ["train", "evaluate"])
def test_a_program_that_the_image_lacks(driver, image, name, entry):
    chip = PolledChip(SMALL)
    device = driver(chip)
    device.load(with_word(image, HEADER.index(name), entry))
    starts = chip.writes.count((register("control"), Control.START))
    with pytest.raises(CDriverError, match="the image has no such program"):
        getattr(device, name)()
    assert chip.writes.count((register("control"), Control.START)) == starts


@pytest.mark.parametrize(("name", "value", "use"), [
    ("status", Status.RUNNING, lambda device, image: device.load(image)),
    *((name, value, use) for name, value in (("status", Status.RUNNING), ("busy", 2))
      for use in (lambda device, image: device.train(),
                  lambda device, image: device.evaluate()))])
def test_a_chip_at_work_is_left_alone(driver, image, use, name, value):
    chip = PolledChip(SMALL)
    device = driver(chip)
    device.load(image)
    chip[name], chip.wait = value, lambda cycles: None
    written = len(chip.writes)
    with pytest.raises(CDriverError, match="the chip is at work"):
        use(device, image)
    assert len(chip.writes) == written


@pytest.mark.parametrize(("use", "name", "change"), [
    ("train", "step", -1), ("train", "step", 1), ("train", "step_key", 1), ("evaluate", "step", 1)])
def test_a_step_that_is_counted_otherwise_is_found(driver, image, use, name, change, monkeypatch):
    chip = PolledChip(SMALL)
    device = driver(chip)
    device.load(image)
    count = chip._count

    def miscount():
        count()
        chip[name] += change
    monkeypatch.setattr(chip, "_count", miscount)
    with pytest.raises(CDriverError, match="counts other training steps"):
        getattr(device, use)()


def test_a_chip_that_was_reset_is_found(driver, image):
    chip = PolledChip(SMALL)
    device = driver(chip)
    device.load(image)
    device.train()
    chip["step"] = 0
    with pytest.raises(CDriverError, match="counts other training steps"):
        device.evaluate()


@pytest.mark.parametrize("access", ["read", "write"])
def test_a_bus_that_fails(driver, image, access, monkeypatch):
    chip = PolledChip(SMALL)
    device = driver(chip)

    def fail(*arguments):
        raise TransportError("no answer")

    monkeypatch.setattr(chip, access, fail)
    with pytest.raises(CDriverError, match="an access to a register failed"):
        device.load(image)


@pytest.mark.parametrize("registers", [
    {"status": Status.ERROR}, {"cycles_low": 5}, {"busy": 2}, {}])
def test_loading_resets_the_chip(driver, image, registers):
    """A program before may have left sums in the accumulators."""
    chip = PolledChip(SMALL, **registers)
    driver(chip).load(image)
    assert chip.writes[0] == (register("control"), Control.RESET)


def test_loading_clears_errors_of_what_was_there_before(driver, image, monkeypatch):
    chip = PolledChip(SMALL)
    write = chip.write

    def report(address, value):
        write(address, value)
        if address == register("space"):  # while words are still being written
            chip["error"] |= Error.PROGRAM
    monkeypatch.setattr(chip, "write", report)
    driver(chip).load(image)
    assert chip["error"] == 0


def test_a_reset_that_does_not_end(driver, image):
    chip = PolledChip(SMALL, endless=True)
    with pytest.raises(CDriverError, match=r"reset does not end, .*; load its bitstream again"):
        driver(chip).load(image)
    assert len(chip.writes) == 1


def test_a_chip_without_a_clock(driver, image, monkeypatch):
    chip = PolledChip(SMALL)
    device = driver(chip)
    monkeypatch.setattr(chip, "wait", lambda cycles: None)
    with pytest.raises(CDriverError, match="the chip counts no cycles; check its clock"):
        device.load(image)
    assert chip.writes[-1] == (register("control"), Control.STOP)


@pytest.mark.parametrize("after", [0, 1, 20])
def test_a_board_that_is_gone(driver, image, after, monkeypatch):
    """Where nobody is, ones are read."""
    chip = PolledChip(SMALL)
    device = driver(chip)
    device.load(image)
    reads = iter(range(after))
    monkeypatch.setattr(chip, "read", lambda address: (
        0xFFFFFFFF if next(reads, None) is None else PolledChip.read(chip, address)))
    with pytest.raises(CDriverError, match="the chip does not answer"):
        for _ in range(3):
            device.train()


def test_ones_are_data_too(driver, image):
    chip = PolledChip(SMALL)
    device = driver(chip)
    device.load(image)
    bank = chip.window[0, Space.WEIGHTS]
    bank.update(dict.fromkeys(bank, 0xFFFFFFFF))
    assert all((elements == -1).all() for elements, _ in device.parameters())
