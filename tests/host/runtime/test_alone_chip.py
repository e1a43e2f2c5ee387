# SPDX-License-Identifier: BSD-2-Clause
"""A chip as a device that trains: what it is told and asked in each step."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.host.compiler.assembly import updates_at
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.comparison import compare
from hypercast.host.runtime.device_errors import DeviceError, MismatchError
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.transport.transport import TransportError
from hypercast.reference.tensor import Tensor
from hypercast.rtl.isa import INSTRUCTION_WORDS, Split
from hypercast.rtl.registers import COUNTERS, CoreSpace, Error, Space
from tests.host.models import SMALL, small_model
from tests.host.runtime.fake_chip import FakeChip


def model():
    return small_model(seed=5, schedule=((1, 0.5), (3, 0.25)))


def program(chip, row):
    words = chip.window[0, Space.PROGRAM]
    return sum(words[row * 16 + index] << 32 * index for index in range(INSTRUCTION_WORDS))


def test_rates_are_patched_in_every_step():
    chip, trained = FakeChip(SMALL), model()
    job = compile_job(trained, SMALL)
    device, rules = AloneChip(chip, job, trained), trained.rules()
    for step in range(5):
        device.train_step()
        for row, instruction in updates_at(job, rules, step):
            assert program(chip, row) == instruction


def test_exponents_are_raised_before_the_second_step():
    chip = FakeChip(SMALL)
    trained = replace(model(), foreseen={Tensor.parse("Z2"): 3, Tensor.parse("H1"): -120})
    job = compile_job(trained, SMALL)
    device = AloneChip(chip, job, trained)
    entries = chip.window[0, Space.TENSORS]
    before = dict(entries)
    device.train_step()
    assert entries == before
    device.train_step()
    assert entries == before | {job.tensors["Z2"]: 3}


def spoiled(rules):
    """Rules with units of momenta that went wrong."""
    exponents = rules.momentum_exponents.entries()
    rules.momentum_exponents.load({name: exponent + 1 for name, exponent in exponents.items()})


def test_an_error_in_rules_of_the_oracle_does_not_reach_the_chip():
    trained = model()
    job, chip = compile_job(trained, SMALL), FakeChip(SMALL)
    reference, expected = ReferenceDevice(trained), ReferenceDevice(trained)
    device = AloneChip(chip, job, trained)
    spoiled(reference.oracle.rules)
    for each in (reference, expected, device):
        each.train_step()
    assert device.state().momentum_exponents == trained.state.momentum_exponents
    for row, instruction in updates_at(job, trained.rules(), 0):
        assert program(chip, row) == instruction
    words = compare(expected.snapshot(), reference.snapshot(), SMALL.lanes)
    assert words.equal < words.words


def test_an_error_in_rules_of_the_chip_does_not_reach_the_oracle():
    trained = model()
    job, chip = compile_job(trained, SMALL), FakeChip(SMALL)
    reference, expected = ReferenceDevice(trained), ReferenceDevice(model())
    device = AloneChip(chip, job, trained)
    spoiled(device._rules)
    for each in (reference, expected, device):
        each.train_step()
    for row, instruction in updates_at(job, trained.rules(), 0):
        assert program(chip, row) != instruction
    words = compare(expected.snapshot(), reference.snapshot(), SMALL.lanes)
    assert words.equal == words.words


def test_a_job_can_be_loaded_again():
    """Rates that were patched into one device do not stay in the job."""
    job = compile_job(model(), SMALL)
    words = list(job.program)
    first = AloneChip(FakeChip(SMALL), job, model())
    for _ in range(4):
        first.train_step()
    assert job.program == words
    chip = FakeChip(SMALL)
    AloneChip(chip, job, model()).train_step()
    assert [program(chip, row) for row in range(len(words))] == words


def test_first_step_and_key():
    chip = FakeChip(SMALL)
    AloneChip(chip, compile_job(model(), SMALL), model())
    assert (chip["step"], chip["step_key"]) == (0, 5)


def test_metrics_are_summed_over_the_cores():
    chip = FakeChip(SMALL)
    device = AloneChip(chip, compile_job(model(), SMALL), model())
    numbers = {name: index for index, name in enumerate(COUNTERS)}
    for core, values in enumerate(({"loss_train": 100, "loss_train_high": 1, "correct_train": 2},
                                   {"loss_train": 50, "correct_train": 1, "loss_test": 7})):
        for name, value in values.items():
            chip.window[core, Space.CORE][CoreSpace.COUNTERS + numbers[name]] = value
    metrics = device.evaluate()
    assert metrics.loss[Split.TRAIN] == (1 << 32) + 150
    assert metrics.loss[Split.TEST] == 7
    assert metrics.correct[Split.TRAIN] == 3
    expected = np.bincount(model().sample.splits, minlength=4)
    assert metrics.vertices.tolist() == expected.tolist()
    assert device.counters["correct_train"] == [2, 1]
    assert (device.evaluate_cycles, device.train_cycles) == (chip["cycles_low"], 0)


def test_phases_are_named():
    job = compile_job(model(), SMALL)
    cycles = {"forward 1": 40, "backward 2": 2}
    phases = [*map(str, job.phases)]
    registers = {f"phase_{phases.index(name)}": count for name, count in cycles.items()}
    device = AloneChip(FakeChip(SMALL, **registers), job, model())
    device.train_step()
    assert device.phase_cycles == dict.fromkeys(phases, 0) | cycles


def test_snapshots_have_the_same_tensors():
    trained = model()
    device = AloneChip(FakeChip(SMALL), compile_job(trained, SMALL), trained)
    reference = ReferenceDevice(trained)
    reference.train_step()
    expected, found = reference.snapshot(), device.snapshot()
    assert expected.keys() == found.keys()
    assert all(expected[name].shape == found[name].shape for name in expected)


def test_cores_with_different_weights():
    chip = FakeChip(SMALL)
    device = AloneChip(chip, compile_job(model(), SMALL), model())
    chip.window[1, Space.WEIGHTS][0] ^= 1
    with pytest.raises(DeviceError, match="core 1 holds other weights W1 than core 0"):
        device.snapshot()


def test_error_and_mismatch_reach_the_caller():
    job = compile_job(model(), SMALL)
    with pytest.raises(DeviceError, match="ALIGNMENT"):
        AloneChip(FakeChip(SMALL, error=Error.ALIGNMENT), job, model()).train_step()
    with pytest.raises(MismatchError):
        AloneChip(FakeChip(SMALL, config_hash=1), job, model())


def test_close():
    chip = FakeChip(SMALL)
    AloneChip(chip, compile_job(model(), SMALL), model()).close()
    assert chip.closed


def test_recording_needs_a_simulation():
    chip = FakeChip(SMALL)
    device = AloneChip(chip, compile_job(model(), SMALL), model())
    with pytest.raises(TransportError, match="keeps no timeline, only the compiled simulation"):
        device.train_step(record=True)


def test_exponents_are_those_of_training():
    trained = model()
    job = compile_job(trained, SMALL)
    expected = ReferenceDevice(trained).exponents()
    assert expected == AloneChip(FakeChip(SMALL), job, trained).exponents()
    assert {"X", "W1", "dZ2"} <= set(expected)
    assert not any(name.endswith(".eval") for name in expected)


def test_saturations_are_those_of_the_last_step():
    chip = FakeChip(SMALL)
    device = AloneChip(chip, compile_job(model(), SMALL), model())
    number = list(COUNTERS).index("saturations")
    for core in range(SMALL.cores):
        chip.window[core, Space.CORE][CoreSpace.COUNTERS + number] = 2 + core
    device.train_step()
    assert device.saturations == 5
    reference = ReferenceDevice(model())
    reference.oracle.saturations["W1"] = 7  # of before
    reference.train_step()
    assert reference.saturations == reference.oracle.saturations.total() - 7


def test_what_was_lent_is_as_before():
    """Program, sample, state and step; cycles of others are those of evaluations."""
    chip, trained = FakeChip(SMALL), model()
    device = AloneChip(chip, compile_job(trained, SMALL, capacity=Capacity.of([trained.sample])),
                        trained)
    device.train_step()
    state, before = device.state(), {place: dict(words) for place, words in chip.window.items()}
    other = small_model(seed=9)
    job = compile_job(other, SMALL)
    with device.lend(state) as driver:
        driver.load(job)
        assert program(chip, 0) == job.program[0]
        device.run_lent(job, "evaluate")
    assert device.evaluate_cycles == device.train_cycles > 0
    assert device.state().step == 1
    for place, words in before.items():
        assert words.items() <= chip.window[place].items()


def test_it_is_back_after_an_error():
    chip, trained = FakeChip(SMALL), model()
    device = AloneChip(chip, compile_job(trained, SMALL), trained)
    state = device.state()
    with pytest.raises(ArithmeticError), device.lend(state) as driver:
        driver.load(compile_job(small_model(seed=9), SMALL))
        raise ArithmeticError
    assert program(chip, 0) == device.job.program[0]
    device.train_step()
