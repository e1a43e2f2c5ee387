"""The driver against registers alone."""

import numpy as np
import pytest

from hypercast.host.compiler import compile_job
from hypercast.host.driver import DeviceError, DeviceTimeoutError, Driver, MismatchError
from hypercast.rtl.config import INTERFACE_VERSION
from hypercast.rtl.isa import INSTRUCTION_WORDS, Engine, decode
from hypercast.rtl.registers import Control, CoreSpace, Error, Space, register
from tests.host.fake_chip import FakeChip
from tests.host.models import SMALL, small_graph, small_model

LIMIT = 5000


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
    assert np.array_equal(driver.matrix(job, "X"), model.tensors["X"])
    for name in job.weights:
        assert np.array_equal(driver.operand(job, name, 1), np.atleast_2d(model.tensors[name]))
        master, momentum = driver.optimiser(job, name)
        assert np.array_equal(master, np.atleast_2d(model.masters[name]))
        assert not momentum.any()


def test_matrix_of_cores_without_vertices():
    model = small_model(small_graph(vertices=1, classes=1))
    job = compile_job(model, SMALL)
    driver = Driver(FakeChip(SMALL), SMALL)
    driver.load(job)
    assert np.array_equal(driver.matrix(job, "X"), model.tensors["X"])


def test_patch(job):
    chip = FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    driver.patch(3, 0x12345678 << 32 | 0x9ABCDEF0)
    program = chip.window[0, Space.PROGRAM]
    assert [program[48 + index] for index in range(INSTRUCTION_WORDS)] == \
        [0x9ABCDEF0, 0x12345678] + [0] * (INSTRUCTION_WORDS - 2)


def test_run():
    chip = FakeChip(SMALL)
    assert Driver(chip, SMALL).run(17, repeat=3, limit=LIMIT) == 1500
    assert (chip["entry"], chip["repeat"]) == (17, 3)


def test_cycles_have_64_bits():
    chip = FakeChip(SMALL, cycles_low=5, cycles_high=2)
    assert Driver(chip, SMALL).cycles() == 2 << 32 | 5


def test_step_key_is_cut_to_32_bits():
    chip = FakeChip(SMALL)
    Driver(chip, SMALL).set_step(3, 1 << 40 | 7)
    assert (chip["step"], chip["step_key"]) == (3, 7)


def test_timeout_is_reported_with_state():
    chip = FakeChip(SMALL, cycles=10**9, pc=12, step=4, waits=1 << Engine.REDUCTION,
                    busy=1 << Engine.REDUCTION | 1 << Engine.ARRAY)
    with pytest.raises(DeviceTimeoutError, match=(
            "did not finish within 5000 cycles; program row 12, waiting for reduction, busy: "
            "array, reduction, step 4, 5500 cycles")):
        Driver(chip, SMALL).run(0, limit=LIMIT)
    assert chip.writes[-1] == (register("control"), Control.STOP)


def test_errors_are_reported_and_cleared(job):
    row = job.entries["evaluate"] - 2
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
