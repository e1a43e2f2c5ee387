# SPDX-License-Identifier: BSD-2-Clause
"""Every kind of layer, against the definition in fractions and against real numbers."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.reference import fixed_layers, row_blocks
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, LOSSES, Recipe
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Tensor
from hypercast.rtl.isa import Split
from tests.reference.error_bounds import ErrorBounds
from tests.reference.exact_step import check_steps
from tests.reference.random_data import ORDERS, OTHERS, data, labelled, network
from tests.reference.random_networks import branched_networks

CONVOLUTIONS = [
    *[((12, 8, 3), orders, width, dropout) for orders in ORDERS
      for width, dropout in ((16, 0.4), (8, 0.4), (16, 0.5), (8, 0.0))],
    ((12, 3), (COMBINE_FIRST,), 16, 0.4),
    ((12, 3), (AGGREGATE_FIRST,), 8, 0.0),
    ((12, 7, 3), (AGGREGATE_FIRST, AGGREGATE_FIRST), 16, 0.0),
    ((12, 6, 5, 3), (COMBINE_FIRST, AGGREGATE_FIRST, COMBINE_FIRST), 16, 0.3),
]


def trained(net, width, loss):
    """A network in training, on a small graph with weights of vertices' losses."""
    return FixedGnn.of(net, Recipe(element_width=width, learning_rates=(0.2,), loss=loss),
                       *labelled(data(vertices=8, seed=1), loss), np.arange(8) / 3)


@pytest.mark.parametrize(("net", "width"), [
    *[(network(widths, dropout=dropout, orders=orders), width)
      for widths, orders, width, dropout in CONVOLUTIONS],
    *[(net, width) for net in OTHERS.values() for width in (16, 8)],
])
@pytest.mark.parametrize("loss", LOSSES)
def test_step_is_what_the_documentation_says(net, width, loss):
    check_steps(trained(net, width, loss))


@pytest.mark.parametrize("net", [
    network((12, 6, 5, 3), orders=(COMBINE_FIRST, AGGREGATE_FIRST, COMBINE_FIRST), dropout=0.3),
    *OTHERS.values()])
@pytest.mark.parametrize("loss", LOSSES)
def test_large_matrices_are_taken_some_rows_at_a_time(monkeypatch, net, loss):
    """Sums, rounding, dropout, losses and gradients are the same in blocks of a few elements."""
    whole = trained(net, 16, loss)
    monkeypatch.setattr(row_blocks, "BLOCK_ELEMENTS", 17)
    found = trained(net, 16, loss)
    for gnn in (whole, found):
        gnn.train_step()
        gnn.evaluate()
    assert found.saturations == whole.saturations
    assert found.state().exponents == whole.state().exponents
    assert found.state().momentum_exponents == whole.state().momentum_exponents
    for name, values in whole.tensors.items():
        assert scipy.sparse.issparse(values) or np.array_equal(found.tensors[name], values), name


def test_no_bit_of_a_sum_beyond_a_floats_is_lost():
    """Products of the largest numbers, and one more unit, which a float64 would round off."""
    terms = 1 << 23
    left = np.full((1, terms + 2), -1 << 15, dtype=np.int64)
    right = left.T.copy()
    left[0, 0] = right[0] = 1
    assert fixed_layers._product(left, right).tolist() == [[(terms + 1 << 30) + 1]]


def test_more_vertices_than_accumulators_are_proved_for():
    """A gradient's sum might not fit by its bound, but does: every word is that of integers."""
    vertices = (1 << 17) + 3
    rng = np.random.default_rng(0)
    edges = scipy.sparse.eye_array(vertices, dtype=np.float64, format="csr")
    graph = (edges, rng.normal(size=(vertices, 3)), rng.integers(2, size=vertices),
             np.full(vertices, Split.TRAIN))
    gnn = FixedGnn.of(network((3, 4, 2), dropout=0.0), Recipe(element_width=16), *graph)
    gnn.train_step()
    for gradient in gnn.gradients.values():
        left = gradient.left.todense() if scipy.sparse.issparse(gradient.left) else gradient.left
        left, right = left.astype(np.int64), gradient.right.astype(np.int64)
        assert (left.T @ right == gradient.accumulators).all()


@settings(max_examples=25, deadline=None)
@given(branched_networks(features=12), st.sampled_from([8, 16]), st.sampled_from(LOSSES))
def test_steps_with_branches(net, width, loss):
    check_steps(trained(net, width, loss))


@pytest.mark.parametrize(("net", "width", "tightness"), [
    *[(network(dropout=dropout, orders=orders), width, tightness) for orders in ORDERS
      for width, dropout, tightness in ((16, 0.4, 0.05), (16, 0.0, 0.05), (8, 0.4, None))],
    *[(net, width, tightness) for net in OTHERS.values()
      for width, tightness in ((16, 0.2 if len(net.layers) <= 3 else None), (8, None))],
])
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_those_of_real_numbers(net, width, tightness, loss):
    """Within ``ErrorBounds``, which must be tight for 16 bits and few layers."""
    weights = None
    if loss == BINARY_CROSS_ENTROPY:
        weights = 0.75 + np.arange(40) / 32  # which mantissas hold as they are
    # In these data no sum is next to zero, ReLU's kink, and nothing rounds to what saturates.
    arguments = labelled(data(seed=5, sparse=False), loss)
    fixed = FixedGnn.of(net, Recipe(element_width=width, loss=loss), *arguments, weights)

    def real_value(name):
        return np.asarray(fixed.tensors[name]) * 2.0**fixed.exponents[name]

    adjacency = fixed.tensors[EDGES] * 2.0 ** fixed.exponents[EDGES]
    real = FloatGnn(fixed.network, fixed.recipe, adjacency, real_value(FEATURES),
                    fixed.sample.labels, fixed.sample.splits, weights)
    real.parameters = {name: real_value(name) for name in real.parameters}
    expected = real.gradients(real.forward(training=True))
    fixed.backward(fixed.forward(fixed.step_key))
    assert not +fixed.saturations
    count = np.count_nonzero(fixed.sample.splits == Split.TRAIN)
    if loss == BINARY_CROSS_ENTROPY:
        count *= 3  # labels
    for name, bounded in ErrorBounds(fixed, real).run(fixed).items():
        np.testing.assert_allclose(bounded.value / count, expected[name], atol=1e-12)
        gradient = fixed.gradients[name]
        found = gradient.accumulators * 2.0**gradient.exponent * fixed.rules.gains[name]
        assert np.all(abs(found - expected[name]) <= bounded.error / count), name
        if width == 16:
            # Half a percent where gradients have a bit of headroom; each more doubles the error.
            share = 0.005 * 2 ** (fixed.recipe.gradient_headroom - 1)
            assert abs(found - expected[name]).max() < share * abs(expected[name]).max(), name
        if tightness:
            assert bounded.error.max() / count < tightness * abs(expected[name]).max(), name


@pytest.mark.parametrize("net", OTHERS.values(), ids=OTHERS.keys())
def test_evaluation_changes_nothing(net):
    arguments = net, Recipe(), *data()
    watched, alone = FixedGnn.of(*arguments), FixedGnn.of(*arguments)
    for _ in range(3):
        watched.evaluate()
        watched.train_step()
        alone.train_step()
    watched.evaluate()
    for name, master in alone.masters.items():
        assert np.array_equal(watched.masters[name], master)
        assert np.array_equal(watched.kept[name]["momentum"], alone.kept[name]["momentum"])


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("net", OTHERS.values(), ids=OTHERS.keys())
def test_first_step_is_calibrated(net, width):
    """Nothing saturates in the first step, nor in what shares an exponent with others."""
    gnn = FixedGnn.of(net, Recipe(element_width=width), *data())
    gnn.evaluate()
    gnn.train_step()
    assert not +gnn.saturations


def test_identity_stays():
    gnn = FixedGnn.of(OTHERS["residual"], Recipe(learning_rates=(0.3,)), *data())
    for _ in range(5):
        gnn.train_step()
    assert np.array_equal(gnn.masters["I2"], np.eye(8) * 2**26)
    identity = Tensor(Kind.IDENTITY, 2)
    assert np.array_equal(gnn.tensors[identity] * 2.0 ** gnn.exponents[identity], np.eye(8))


def test_large_edge_weights_are_refused_where_rows_are_added():
    adjacency, *rest = data()
    with pytest.raises(ValueError, match=r"edge weights reach .* must be below 32768; scale"):
        FixedGnn.of(OTHERS["sage"], Recipe(), adjacency * 2.0**17, *rest)


@pytest.mark.parametrize("net", [
    *[network(dropout=0.4, orders=orders) for orders in ORDERS], *OTHERS.values()])
def test_evaluations_have_no_dropout(net):
    without = replace(net, layers=tuple(replace(layer, dropout=0.0) for layer in net.layers))
    gnns = [FixedGnn.of(one, Recipe(), *data()) for one in (net, without)]
    gnns[1].load_state(gnns[0].state())
    for gnn in gnns:
        gnn.evaluate()
    evaluated = [name for name in gnns[0].tensors if name.endswith(".eval")]
    assert len(evaluated) >= len(net.layers)
    for name in evaluated:
        assert np.array_equal(*(gnn.tensors[name] for gnn in gnns)), name
