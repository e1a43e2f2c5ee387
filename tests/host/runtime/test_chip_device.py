# SPDX-License-Identifier: BSD-2-Clause
"""A chip that has a part of a training: sums in and out, and the bits of a reference."""

from unittest.mock import Mock, call

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.piece_program import BACKWARD, EVALUATE, FORWARD
from hypercast.host.compiler.pieces import Pieces
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.runtime import chip_device
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.chip_device import ChipDevice
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.state_transfer import read_sums, write_sums
from hypercast.reference.exponents import AccumulatorError
from hypercast.reference.step_sums import StepSums
from hypercast.rtl.config import PRESETS
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.host.models import SMALL, small_model
from tests.host.runtime.fake_chip import FakeChip

TINY = PRESETS["tiny"]


def on_fake(**recipe):
    model = small_model(config=SMALL, seed=3, **recipe)
    return ChipDevice(
        FakeChip(SMALL), Pieces.of_steps(compile_job(model, SMALL, pieces=True)), model)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_sums_out_and_in(optimiser):
    """Sums of the whole width of an accumulator come out as they went in; the state stays."""
    device = on_fake(optimiser=optimiser)
    before = device.state()
    generator = np.random.default_rng(4)
    sums = {name: generator.integers(-1 << 47, 1 << 47, arrays["master"].shape)
            for name, arrays in before.parameters.items()}
    write_sums(device.driver, device.job, sums)
    found = read_sums(device.driver, device.job, before)
    assert found.keys() == sums.keys()
    for name, values in sums.items():
        np.testing.assert_array_equal(found[name], values)
    after = device.state()
    for name, arrays in before.parameters.items():
        for kind, values in arrays.items():
            np.testing.assert_array_equal(after.parameters[name][kind], values)


def test_parts_of_a_piece_run_in_order(monkeypatch):
    """Rows of others come before the part that needs them; what was taken before is not asked for
    again.
    """
    done, device = [], on_fake()
    parts = {FORWARD: [None, "T1", None], BACKWARD: ["DZ2"], EVALUATE: ["T1", "T2"]}
    device.pieces = Pieces(job=device.job, layers=range(1, 3), crossing=parts)
    monkeypatch.setattr(device, "_bring_rows", lambda name, *, transposed: (name, transposed))
    monkeypatch.setattr(chip_device, "write_rows", lambda driver, job, name, rows, first:
                        done.append((*rows, first)))

    def run(entry):
        done.append(entry)
        device._saturated = len(done)
        return f"metrics of {entry}", 10

    monkeypatch.setattr(device, "_run", run)
    observer = Mock()
    device.observe(observer)
    monkeypatch.setattr(Chip, "counters", {"busy": [2, 3]})
    monkeypatch.setattr(Chip, "phase_cycles", {"load": 4})
    rows, taken = len(device.model.sample.labels), {}
    assert device.run(FORWARD, taken) == ("metrics of forward 2", 1 + 3 + 4)
    assert done == ["forward", ("T1", False, rows), "forward 1", "forward 2"]
    assert device.counters == {"busy": [6, 9]} and device.phase_cycles == {"load": 12}
    taken[FORWARD, 1] = "kept", None
    done.clear()
    device.run(FORWARD, taken)
    assert done == ["forward", ("kept", None, rows), "forward 1", "forward 2"]
    done.clear()
    assert device.run(BACKWARD) == ("metrics of backward", 2)
    assert done == [("DZ2", True, rows), "backward"]
    cycles = device.train_cycles
    assert device.run(EVALUATE)[0] == "metrics of evaluate 1"
    assert device.train_cycles == cycles == 70 and device.evaluate_cycles == 20
    assert observer.mock_calls == [call.spend(entry, 10) for entry in (
        *("forward", "forward 1", "forward 2") * 2, "backward")]


def test_sums_that_do_not_fit_change_nothing():
    device = on_fake()
    state = device.state()
    gradients = {name: np.zeros_like(arrays["master"])
                 for name, arrays in state.parameters.items()}
    gradients["b2"][0] = 1 << 47
    with pytest.raises(AccumulatorError, match="b2 takes more than the 48 bits"):
        device.update(StepSums(gradients=gradients, entries=state.exponents, metrics=None,
                               saturations=0))
    assert not any(values.any() for values in read_sums(
        device.driver, device.job, state).values())


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_bits_are_those_of_the_reference(optimiser):
    """Step by step; also where a step takes its sample twice."""
    def fresh():
        return small_model(config=TINY, seed=3, optimiser=optimiser)

    model = fresh()
    reference = ReferenceDevice(fresh())
    job = compile_job(model, TINY, capacity=Capacity.of([model.sample]), pieces=True)
    chip = ChipDevice(CxxrtlTransport(TINY), Pieces.of_steps(job), model)
    done = 0
    try:
        for step in range(4):
            found = []
            for device in (reference, chip):
                device.begin_step()
                parts = [device.step_sums(model.sample) for _ in range(1 + step % 2)]
                device.update(StepSums.total(parts))
                found.append((parts, device.saturations, device.state(), device.snapshot()))
            (parts, saturations, state, tensors), others = found
            cycles, done = chip.train_cycles - done, chip.train_cycles
            assert sum(chip.phase_cycles.values()) == cycles
            assert sum(chip.counters["vector_words"]) == sum(chip.counters["features_written"]) \
                + sum(chip.counters["gradients_written"])
            assert all(chip.counters["array_words"])
            for one, other in zip(parts, others[0], strict=True):
                assert one.entries == other.entries and one.saturations == other.saturations
                assert np.array_equal(one.metrics.loss, other.metrics.loss)
                for name, values in one.gradients.items():
                    np.testing.assert_array_equal(values, other.gradients[name])
            assert saturations == others[1]
            assert state.exponents == others[2].exponents
            for name, values in tensors.items():
                np.testing.assert_array_equal(values, others[3][name], err_msg=str(name))
        assert chip.train_cycles > 0
    finally:
        chip.close()
