# SPDX-License-Identifier: BSD-2-Clause
"""A chip whose steps are in pieces: sums in and out, and the bits of a reference."""

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.sample_plan import Capacity
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.state_transfer import read_sums, write_sums
from hypercast.host.runtime.stepped_chip import SteppedChip
from hypercast.reference.exponents import AccumulatorError
from hypercast.reference.step_sums import StepSums
from hypercast.rtl.config import PRESETS
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.host.models import SMALL, small_model
from tests.host.runtime.fake_chip import FakeChip

TINY = PRESETS["tiny"]


def on_fake(**recipe):
    model = small_model(config=SMALL, seed=3, **recipe)
    return SteppedChip(FakeChip(SMALL), compile_job(model, SMALL, pieces=True), model)


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


def test_there_is_no_timeline():
    with pytest.raises(ValueError, match="a step in pieces is several programs"):
        on_fake().train_step(record=True)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_bits_are_those_of_the_reference(optimiser):
    """Step by step; also where a step takes its sample twice."""
    def fresh():
        return small_model(config=TINY, seed=3, optimiser=optimiser)

    model = fresh()
    reference = ReferenceDevice(fresh())
    job = compile_job(model, TINY, capacity=Capacity.of([model.sample]), pieces=True)
    chip = SteppedChip(CxxrtlTransport(TINY), job, model)
    done = 0
    try:
        for step in range(4):
            found = []
            for device in (reference, chip):
                device.begin_step()
                parts = [device.step_sums() for _ in range(1 + step % 2)]
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
