# SPDX-License-Identifier: BSD-2-Clause
"""Steps on several samples, in two programs, on chips of all kinds: the bits of the reference."""

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.pieces import Pieces
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.runtime.chip_device import ChipDevice
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.models import MODELS
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.step_sums import StepSums
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import CHIPS, WIDE
from tests.system.test_sampled_training import network_of, samples_of


def check(network, config, samples, recipe, each=2, transport=None):
    """Train on ``each`` samples a step; returns the chip's job, of whose steps all were equal.

    The chip is a compiled simulation, unless there is another ``transport``.
    """
    model, other = (InitialModel.of(network, recipe, samples[0]) for _ in range(2))
    reference = ReferenceDevice(other)
    job = compile_job(model, config, capacity=Capacity.of(samples), pieces=True)
    chip = ChipDevice(transport or CxxrtlTransport(config), Pieces.of_steps(job), model)
    try:
        for first in range(0, len(samples), each):
            step = samples[first:first + each]
            exponent = max(sample.edge_exponent for sample in step)
            found = []
            for device in (reference, chip):
                device.begin_step()
                total = StepSums.total(
                    device.step_sums(sample.with_edge_exponent(exponent)) for sample in step)
                device.update(total)
                found.append((total, device))
            (expected, _), (sums, _) = found
            for name, values in expected.gradients.items():
                np.testing.assert_array_equal(sums.gradients[name], values, err_msg=str(name))
            assert sums.entries == expected.entries
            assert chip.saturations == reference.saturations
            state, after = reference.state(), chip.state()
            assert after.exponents == state.exponents
            for name, arrays in state.parameters.items():
                for kind, values in arrays.items():
                    np.testing.assert_array_equal(after.parameters[name][kind], values)
    finally:
        chip.close()
    return job


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
def test_configurations(config, optimiser):
    network = network_of("gcn")
    recipe = Recipe(element_width=config.element_width, optimiser=optimiser)
    check(network, config, samples_of(network, recipe, "gcn"), recipe)


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    network = network_of(name)
    recipe = Recipe(normalisation=MODELS[name].normalisation, weight_decays=(0.0,))
    check(network, WIDE, samples_of(network, recipe, name, draw="walks"), recipe, each=3)


@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
def test_more_sums_than_accumulators(orders):
    """Buffers are emptied while others are reduced: more than two groups of rows."""
    config = WIDE.replace(channel_words=16384, program_rows=2048, weight_rows=1024)
    network = Network.of_widths([7, 40, 24, 5], orders=orders)
    recipe = Recipe(optimiser="adam")
    job = check(network, config, samples_of(network, recipe, "gcn", draw="nodes"), recipe)
    groups = {portion.reduction_group for weights in job.weights.values()
              for portion in weights.portions}
    assert len(groups) > 2
