# SPDX-License-Identifier: BSD-2-Clause
"""Passes without an optimiser; ``test_fixed_layers`` and ``test_fixed_gnn`` test what they give."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.reference.fixed_passes import FixedPasses
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.isa import MASTER_EXPONENT, Split
from tests.reference.random_data import OTHERS, data, network

W1, W2, B1, B2 = (Tensor(kind, layer) for kind in (Kind.WEIGHTS, Kind.BIAS) for layer in (1, 2))


def passes(net=None, **recipe):
    net, recipe = net or network(), Recipe(**recipe)
    return FixedPasses(net, recipe, Sample.of(net, recipe, *data()))


def masters(scale=1.0):
    generator = np.random.default_rng(0)
    shapes = {W1: (12, 8), B1: (8,), W2: (8, 3), B2: (3,)}
    return {name: np.rint(generator.uniform(-scale, scale, shape) / 2.0**MASTER_EXPONENT)
            .astype(np.int64) for name, shape in shapes.items()}


def test_weights_are_rounded_to_elements():
    found = passes(headroom=0)
    found.round_weights(masters())
    for name, values in masters().items():
        error = found.tensors[name] * 2.0 ** found.exponents[name] - values * 2.0**MASTER_EXPONENT
        assert abs(error).max() <= 2.0 ** (found.exponents[name] - 1)
        assert 1 << 14 <= abs(found.tensors[name]).max() < 1 << 15


def test_exponents_leave_bits_for_others():
    found = passes(headroom=0)
    found.round_weights(masters(), {name: 4 * values for name, values in masters().items()})
    alone = passes(headroom=0)
    alone.round_weights(masters())
    for name in (W1, W2, B1, B2):
        assert found.exponents[name] == alone.exponents[name] + 2


def test_weights_of_a_layer_have_one_exponent():
    found = passes(OTHERS["sage"], headroom=0)
    root = Tensor(Kind.ROOT_WEIGHTS, 1)
    given = masters() | {root: 8 * masters()[W1], Tensor(Kind.ROOT_WEIGHTS, 2): masters()[W2]}
    found.round_weights(given)
    assert found.exponents[W1] == found.exponents[root]
    assert abs(found.tensors[W1]).max() < 1 << 12 < abs(found.tensors[root]).max()


def test_an_evaluation_is_a_pass_without_a_key():
    found = passes(network(dropout=0.0))
    found.round_weights(masters())
    found.calibrate_during(lambda: (found.forward(), found.forward(0)))
    evaluated, trained = found.forward(), found.forward(0)
    assert np.array_equal(evaluated.loss, trained.loss)
    assert np.array_equal(found.tensors["Z2.eval"], found.tensors["Z2"])


def test_another_sample_has_the_same_unit_of_loss_weights():
    found = passes()
    other = replace(found.sample, loss_unit=2 * found.sample.loss_unit)
    with pytest.raises(ValueError, match="make all samples with one unit"):
        found.take(other)


@pytest.mark.parametrize("orders", [(COMBINE_FIRST,) * 2, (COMBINE_FIRST, AGGREGATE_FIRST)])
def test_a_backward_pass_finds_the_gradients_of_all_parameters(orders):
    """Only training vertices have a part in the gradients."""
    found = passes(network(dropout=0.0, orders=orders))
    found.round_weights(masters())
    found.calibrate_during(lambda: found.backward(found.forward(0)))
    rows = found.forward(0)
    found.backward(rows)
    assert found.gradients.keys() == {W1, W2, B1, B2}
    for name in (W1, W2, B1, B2):
        assert found.gradients[name].accumulators.any(), name
    gradient = found.tensors[Tensor(Kind.GRADIENT, 2)]
    train = found.sample.splits == Split.TRAIN
    assert gradient[train].any() and not gradient[~train].any()
