# SPDX-License-Identifier: BSD-2-Clause
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from hypercast.reference.exponents import ExponentError
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, LOSSES, Recipe
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Pass, Tensor
from hypercast.rtl.isa import (
    MASTER_EXPONENT,
    MAXIMUM_EXPONENT,
    MINIMUM_EXPONENT,
    STEP_KEY_INCREMENT,
    Split,
)
from tests.host.noted_programs import STATES, noted_state
from tests.host.noted_programs import state as digest_of
from tests.reference.random_data import ORDERS, data, labelled, network, several


def state(gnn):
    """Everything a later step depends on."""
    return {f"{name}.{kind}": value.tolist()
            for name, arrays in gnn.kept.items() for kind, value in arrays.items()} | {
        name: value for name, value in gnn.exponents.items() if not name.endswith(".eval")}


# --- Input features ---------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("values", "mantissas", "exponent"), [
    ([1.0, 0.0, 1.0], [1, 0, 1], 0),
    ([-12.0, 20.0, 0.0], [-3, 5, 0], 2),
    ([-0.25, 0.5, 0.0], [-1, 2, 0], -2),
    ([1.0, 0.0, 2.0**-14], [1 << 14, 0, 1], -14),
    ([0.0, 0.0, 0.0], [0, 0, 0], -15),
])
def test_input_features_have_no_common_factor_of_two(values, mantissas, exponent, sparse):
    adjacency, _, labels, splits = data(vertices=8)
    features = np.outer(np.arange(8) == 2, values)
    gnn = FixedGnn.of(
        network((3, 3), orders=ORDERS[0][:1]), Recipe(weight_decays=(0.0,)), adjacency,
        scipy.sparse.csr_array(features) if sparse else features, labels, splits)
    found = gnn.tensors["X"].toarray() if sparse else gnn.tensors["X"]
    assert found[2].tolist() == mantissas
    assert not np.delete(found, 2, axis=0).any()
    assert gnn.exponents[FEATURES] == exponent


# --- Against real numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("recipe", [
    Recipe(learning_rates=(0.1,)),
    Recipe(optimiser="adam", learning_rates=(0.01,), bias_learning_rates=(0.01,)),
], ids=["sgd", "adam"])
def test_training_follows_real_numbers(recipe, loss):
    """Ten steps; the momenta take gradients in and the gains and rates undo the chip's scaling.

    What one rounding does to ten steps has no simple bound; one percent of the parameters'
    changes is far below what a wrong gain or rate would do.
    """
    examples, weights = data(), None
    if loss == BINARY_CROSS_ENTROPY:
        examples = several(data(seed=5))  # in which no sum is next to zero, ReLU's kink
        weights = np.linspace(0, 3, 40)
    arguments = network(dropout=0.4), replace(recipe, loss=loss), *examples, weights
    fixed, real = FixedGnn.of(*arguments), FloatGnn(*arguments)
    for split in (Split.TRAIN, Split.TEST):
        expected, found = real.evaluate().mean_loss(split), fixed.evaluate().mean_loss(split)
        assert found == pytest.approx(expected, rel=0.002)
    initial = dict(real.parameters)
    for _ in range(10):
        fixed.train_step()
        real.train_step()
    for name, value in real.parameters.items():
        change = abs(value - initial[name]).max()
        assert abs(fixed.masters[name] * 2.0**MASTER_EXPONENT - value).max() < 0.01 * change


# --- What must not matter -----------------------------------------------------------------------


def test_evaluation_changes_nothing():
    arguments = network(), Recipe(), *data()
    watched, alone = FixedGnn.of(*arguments), FixedGnn.of(*arguments)
    for _ in range(5):
        watched.evaluate()
        watched.train_step()
        alone.train_step()
    watched.evaluate()
    assert state(watched) == state(alone)


def test_evaluation_follows_training():
    """Exponents of an evaluation fit though parameters have grown; a second one gives the same."""
    gnn = FixedGnn.of(network(), Recipe(learning_rates=(0.3,), headroom=2), *data())
    logits = Tensor(Kind.LOGITS, 2, Pass.EVALUATION)
    before = gnn.exponents[logits]
    for _ in range(50):
        gnn.train_step()
    gnn.saturations.clear()
    first, second = gnn.evaluate(), gnn.evaluate()
    assert gnn.exponents[logits] > before
    assert not +gnn.saturations
    assert all(map(np.array_equal, first, second))


def test_dense_and_sparse_features_agree():
    sparse = FixedGnn.of(network(), Recipe(), *data(sparse=True))
    dense = FixedGnn.of(network(), Recipe(), *data(sparse=False))
    for _ in range(5):
        assert all(map(np.array_equal, sparse.train_step(), dense.train_step()))
    assert state(sparse) == state(dense)


@pytest.mark.parametrize("orders", ORDERS)
def test_order_of_the_vertices_does_not_matter(orders):
    """Without dropout, which hashes ranks: sums of integers do not depend on their order."""
    adjacency, features, labels, splits = data()
    order = np.random.default_rng(1).permutation(len(labels))
    arguments = network(dropout=0.0, orders=orders), Recipe()
    one = FixedGnn.of(*arguments, adjacency, features, labels, splits)
    other = FixedGnn.of(*arguments, adjacency[order][:, order], features[order], labels[order],
                        splits[order])
    for _ in range(5):
        one.train_step()
        other.train_step()
    assert state(one) == state(other)


def test_padding_with_zeros_does_not_matter():
    """Features that are always zero, as a panel's unused lanes, leave all other bits alone."""
    adjacency, features, labels, splits = data()
    wide = scipy.sparse.hstack([features, scipy.sparse.csr_array((len(labels), 4))], format="csr")
    one = FixedGnn.of(network(), Recipe(), adjacency, features, labels, splits)
    start = {name: master * 2.0**MASTER_EXPONENT for name, master in one.masters.items()}
    start["W1"] = np.vstack([start["W1"], np.zeros((4, 8))])
    other = FixedGnn.of(network((16, 8, 3)), Recipe(), adjacency, wide, labels, splits,
                        parameters=start)
    for _ in range(5):
        one.train_step()
        other.train_step()
    assert other.masters["W1"][:12].tolist() == one.masters["W1"].tolist()
    assert not other.masters["W1"][12:].any()
    assert other.masters["W2"].tolist() == one.masters["W2"].tolist()


# --- State --------------------------------------------------------------------------------------


def test_first_step_is_calibrated():
    """Nothing saturates in the first step, though its exponents come from no step before."""
    for seed in range(5):
        gnn = FixedGnn.of(network(), Recipe(seed=seed, element_width=8), *data(seed=seed))
        gnn.evaluate()
        gnn.train_step()
        assert not +gnn.saturations


def test_exponents_come_from_the_step_before():
    gnn = FixedGnn.of(network(), Recipe(headroom=2), *data())
    gnn.train_step()
    gnn.train_step()  # of which the initial model foresees some
    for _ in range(5):
        peaks = {name: gnn.exponents.peak(name) for name in gnn.tensors}
        gnn.train_step()
        names = "W1", "b1", "T1", "H1", "T2", "Z2", "dZ2", "dT2", "dZ1", "dT1"
        for name in map(Tensor.parse, names):
            # With 16 bits the accumulators' own exponent is far below.
            assert gnn.exponents[name] == max(peaks[name] + 2 - 15, MINIMUM_EXPONENT), name
            largest = abs(gnn.tensors[name]).max() * 2.0 ** (
                gnn.exponents[name] - gnn.exponents.peak(name))
            # At least half the peak; T2 and dZ1 are multiplied by 0.83 after the peak is taken.
            assert 0.4 < largest <= 1, name


def test_step_key_advances():
    gnn = FixedGnn.of(network(), Recipe(seed=2**32 + 5), *data())
    assert gnn.step_key == 5
    gnn.train_step()
    gnn.train_step()
    assert gnn.step_key == (5 + 2 * STEP_KEY_INCREMENT) % 2**32
    assert gnn.step == 2


def test_metrics_are_of_the_labelled_splits():
    gnn = FixedGnn.of(network(), Recipe(), *data())
    metrics = gnn.evaluate()
    logits, labels = gnn.tensors["Z2.eval"], gnn.sample.labels
    for split in (Split.TRAIN, Split.VALIDATION, Split.TEST):
        rows = gnn.sample.splits == split
        assert metrics.correct[split] == np.sum(logits[rows].argmax(axis=1) == labels[rows])
    assert metrics.loss[Split.NONE] == metrics.correct[Split.NONE] == 0
    assert metrics.loss.dtype == np.int64
    assert not metrics.wrong.any()


def test_metrics_of_several_labels():
    gnn = FixedGnn.of(network(), Recipe(loss=BINARY_CROSS_ENTROPY), *several(data()))
    metrics = gnn.evaluate()
    predicted, labels = gnn.tensors["Z2.eval"] > 0, gnn.sample.labels
    for split in (Split.TRAIN, Split.VALIDATION, Split.TEST):
        rows = gnn.sample.splits == split
        hits = np.sum(predicted[rows] & labels[rows])
        marks = np.sum(predicted[rows]) + np.sum(labels[rows])
        assert metrics.correct[split] == hits
        assert metrics.micro_f1(split) == 2 * hits / marks
    assert metrics.loss[Split.NONE] == metrics.correct[Split.NONE] == metrics.wrong[Split.NONE] == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_only_the_ratios_of_loss_weights_and_a_power_of_two_matter(loss):
    """Four times the weights: the same bits, a loss and gains of four times as much."""
    arguments = labelled(data(), loss)
    weights = np.linspace(0, 1.9, 40)
    one, four = (FixedGnn.of(network(), Recipe(loss=loss, weight_decays=(0.0,)), *arguments, w)
                 for w in (weights, 4 * weights))
    assert np.array_equal(one.sample.loss_weights, four.sample.loss_weights)
    assert {name: 4 * gain for name, gain in one.rules.gains.items()} == four.rules.gains
    assert 4 * one.evaluate().mean_loss(Split.TRAIN) == four.evaluate().mean_loss(Split.TRAIN)


def test_saturations_are_counted_by_tensor():
    gnn = FixedGnn.of(network(), Recipe(headroom=0, learning_rates=(2.0,)), *data())
    for _ in range(10):
        gnn.train_step()
    assert sum(gnn.saturations.values()) > 0
    assert set(gnn.saturations) <= {*gnn.tensors}


def test_training_lowers_the_loss():
    gnn = FixedGnn.of(network(dropout=0.0),
                      Recipe(learning_rates=(0.3,), weight_decays=(0.0,)), *data())
    first = gnn.evaluate()
    for _ in range(50):
        gnn.train_step()
    assert gnn.evaluate().mean_loss(Split.TRAIN) < first.mean_loss(Split.TRAIN) / 2


def test_exponents_out_of_range_stop():
    gnn = FixedGnn.of(network(), Recipe(), *data())
    gnn.exponents[EDGES] = MAXIMUM_EXPONENT
    with pytest.raises(ExponentError, match=r"exponent of Z2\.eval is"):
        gnn.evaluate()


# --- Refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("position", "change", "message"), [
    (0, lambda a: a[:-1], r"adjacency must have shape \(40, 40\), not \(39, 40\)"),
    (1, lambda x: x[:, :-1], r"features must have shape \(40, 12\), not \(40, 11\)"),
    (2, lambda y: y + 1, "label 3 does not fit the network's 3 outputs"),
    (3, lambda s: s[:-1], r"splits must have shape \(40,\), not \(39,\)"),
    (3, lambda s: np.where(s == Split.TRAIN, Split.NONE, s), "no vertex to train on"),
])
def test_data_must_fit_the_network(position, change, message):
    arguments = list(data())
    arguments[position] = change(arguments[position])
    with pytest.raises(ValueError, match=message):
        FixedGnn.of(network(), Recipe(), *arguments)


def test_accumulators_must_fit():
    with pytest.raises(ValueError, match="accumulator of 40 bits"):
        FixedGnn.of(network((12, 2**25, 3)), Recipe(element_width=8), *data())


@pytest.mark.parametrize("classes", [1, 2])
def test_gradients_that_are_zero_at_first_are_no_obstacle(classes):
    """All features zero, or a single class: weight decay alone moves the weights."""
    arguments = (Network.of_widths([3, 4, classes]), Recipe(), scipy.sparse.eye_array(4),
                 np.zeros((4, 3)), np.arange(4) % classes, [Split.TRAIN] * 4)
    gnn = FixedGnn.of(*arguments)
    before = np.abs(gnn.masters["W1"]).sum()
    for _ in range(3):
        gnn.train_step()
    assert np.abs(gnn.masters["W1"]).sum() < before


def test_what_is_foreseen_outlives_the_first_step():
    """A training that goes on from the state after it is the same."""
    model = InitialModel.of(network(), Recipe(optimiser="adam", learning_rates=(0.3,)), *data())
    whole, later = FixedGnn(model), FixedGnn(model)
    whole.train_step()
    later.load_state(whole.state())
    for gnn in (whole, later):
        gnn.train_step()
    assert whole.rules.raised and whole.rules.raised == later.rules.raised
    assert whole.exponents.entries() == later.exponents.entries()
    for name, tensor in whole.masters.items():
        np.testing.assert_array_equal(later.masters[name], tensor)


# --- All networks -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", STATES)
def test_states_are_those_noted(name):
    assert digest_of(name) == noted_state(name)
