# SPDX-License-Identifier: BSD-2-Clause
"""The state before the first step: what it consists of, and what it refuses."""

import numpy as np
import pytest

from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_parameters import initial_parameters
from hypercast.reference.initial_state import initial_state
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import FORWARD
from hypercast.rtl.isa import MASTER_EXPONENT
from tests.reference.random_data import ORDERS, OTHERS, data, network

NETWORKS = [*(network(orders=orders) for orders in ORDERS), *OTHERS.values()]


def state_of(net, recipe, parameters=None):
    state, _ = initial_state(net, recipe, Sample.of(net, recipe, *data()), parameters)
    return state


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_masters_are_those_of_the_seed_and_moments_zero(optimiser):
    state = state_of(network(), Recipe(optimiser=optimiser, seed=3))
    assert state.step == 0
    for name, values in initial_parameters(network(), 3).items():
        arrays = state.parameters[name]
        assert list(arrays) == ["master", "momentum", "second_moment"][:2 + (optimiser == "adam")]
        np.testing.assert_array_equal(
            arrays["master"], np.rint(values / 2.0**MASTER_EXPONENT))
        assert not any(np.any(values) for kind, values in arrays.items() if kind != "master")


def test_steps_of_sgd_are_not_foreseen():
    _, foreseen = initial_state(network(), Recipe(), Sample.of(network(), Recipe(), *data()))
    assert foreseen == {}


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("net", NETWORKS)
def test_nothing_saturates_in_the_second_step(net, width):
    """Though Adam's first one makes features and logits many times as large."""
    recipe = Recipe(element_width=width, optimiser="adam", learning_rates=(0.3,),
                    bias_learning_rates=(0.3,), weight_decays=(0.0,), headroom=0)
    gnn = FixedGnn.of(net, recipe, *data())
    gnn.train_step()
    peaks = {name: gnn.exponents.peak(name) for name in gnn.tensors if name.kind in FORWARD}
    gnn.train_step()
    # Identity mapping changes too little.
    assert net.initial or max(
        gnn.exponents.peak(name) - peak for name, peak in peaks.items()) >= 1
    assert not sum(count for name, count in gnn.saturations.items() if name.kind in FORWARD)


def test_a_second_step_that_is_out_of_range_is_not_foreseen():
    """Training tells, when it comes to it."""
    net, recipe = network(dropout=0.0), Recipe(learning_rates=(30.0,), weight_decays=(0.0,),
                                               bias_learning_rates=(30.0,), optimiser="adam")
    adjacency, features, labels, splits = data()
    sample = Sample.of(net, recipe, adjacency, 2.0**20 * features, labels, splits)
    _, foreseen = initial_state(net, recipe, sample)
    assert foreseen == {}


@pytest.mark.parametrize("net", NETWORKS)
@pytest.mark.parametrize("width", [8, 16])
def test_exponents_are_no_higher_than_the_first_step_needs(net, width):
    """Tensors of the step fill their range, whatever else has their exponent; weights at once."""
    recipe = Recipe(element_width=width, weight_decays=(0.0,), headroom=0)
    gnn = FixedGnn.of(net, recipe, *data())
    gnn.train_step()
    assert not +gnn.saturations
    largest = {}
    for name, values in gnn.tensors.items():
        entry = net.exponent_entry(name)
        largest[entry] = max(largest.get(entry, 0), abs(values).max())
    for entry, value in largest.items():
        if entry.startswith(("T", "H", "Z", "dT", "dZ", "dM")) and value:
            assert value >= 1 << width - 4, entry


def test_a_parameter_has_bits_for_its_first_update():
    """A bias begins at zero, so its exponent can come from the first update only."""
    state = state_of(network(), Recipe(learning_rates=(0.5,), bias_learning_rates=(0.5,)))
    still = state_of(network(), Recipe(learning_rates=(0.5,), bias_learning_rates=(0.0,)))
    assert state.exponents["b1"][0] > still.exponents["b1"][0]
    assert state.exponents["W1"] == still.exponents["W1"]


def test_nothing_has_a_peak_yet():
    assert {peak for _, peak in state_of(network(), Recipe()).exponents.values()} == {None}


def test_it_cannot_be_written_to():
    state = state_of(network(), Recipe(optimiser="adam"))
    for arrays in state.parameters.values():
        for values in arrays.values():
            with pytest.raises(ValueError, match="read-only"):
                values[...] = 1


@pytest.mark.parametrize(("change", "message"), [
    ({"W1": np.full((12, 8), 32.0)}, r"W1\[0, 0\] is 32, but"),
    ({"b2": np.array([0, np.nan, 0])}, r"b2\[1\] is nan"),
    ({"W1": np.zeros((8, 12))}, r"W1 has shape \(8, 12\), but the network's is \(12, 8\)"),
    ({"W3": np.zeros((8, 12))},
     "initial values are of W1, b1, W2, b2, W3, but the network has W1"),
])
def test_initial_values(change, message):
    with pytest.raises(ValueError, match=message):
        state_of(network(), Recipe(), initial_parameters(network(), 0) | change)


def test_constants_of_later_steps_are_refused_now():
    recipe = Recipe(schedule=((5, 1e30),))
    with pytest.raises(ValueError, match=r"learning rate 5e\+28"):
        state_of(network(), recipe)
