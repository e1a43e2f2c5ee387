# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
import scipy.sparse

from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.models import model_network
from hypercast.reference.network import Network
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, CROSS_ENTROPY, LOSSES, Recipe
from hypercast.rtl.isa import STEP_KEY_INCREMENT, Split

VERTICES, FEATURES, CLASSES = 12, 5, 3


def plain(dropout):
    return Network.of_widths((FEATURES, 6, 4, CLASSES), dropout=dropout)


def make(network, *, sparse=False, seed=0, loss=CROSS_ENTROPY):
    """A small network with non-zero biases on a random asymmetric graph."""
    generator = np.random.default_rng(seed)
    adjacency = scipy.sparse.random_array((VERTICES, VERTICES), density=0.3, rng=generator)
    features = generator.normal(size=(VERTICES, FEATURES))
    labels = np.arange(VERTICES) % CLASSES
    if loss == BINARY_CROSS_ENTROPY:
        labels = (labels[:, None] + np.arange(CLASSES)) % 5 < 2
    splits = np.where(np.arange(VERTICES) < 7, Split.TRAIN, Split.TEST)
    gnn = FloatGnn(network, Recipe(seed=seed, loss=loss), adjacency,
                   scipy.sparse.csr_array(features) if sparse else features, labels, splits,
                   np.linspace(0, 2, VERTICES))
    for name, value in gnn.parameters.items():
        gnn.parameters[name] = value + generator.normal(scale=0.3, size=value.shape)
    return gnn


def nudged(gnn, name, index, step):
    """Loss and layers with one parameter nudged."""
    value = gnn.parameters[name][index]
    gnn.parameters[name][index] = value + step
    result = gnn.loss(training=True), gnn.forward(training=True)
    gnn.parameters[name][index] = value
    return result


@pytest.mark.parametrize("network", [
    plain(0.0),
    plain(0.4),
    model_network("sage", FEATURES, (6, 4), CLASSES, dropout=0.4),
    model_network("gin", FEATURES, (4,), CLASSES, dropout=0.4),
    model_network("gcn", FEATURES, (4, 4), CLASSES, dropout=0.4, residual=True),
    model_network("gcn", FEATURES, (4, 3), CLASSES, dropout=0.5, jumping=True),
    model_network("gin", FEATURES, (4, 4), CLASSES, dropout=0.5, jumping=True, residual=True),
    model_network("gcnii", FEATURES, (4, 4, 4, 4), CLASSES, dropout=0.5, alpha=0.3, theta=1.0),
    model_network("mixhop", FEATURES, (4, 3, 4, 3), CLASSES, dropout=0.5),
    model_network("sign", FEATURES, (4, 3, 4), CLASSES, dropout=0.5),
], ids=["plain", "dropout", "sage", "gin", "residual", "jumping", "all", "gcnii", "mixhop",
        "sign"])
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_finite_differences(network, loss):
    """Central differences, within a bound.

    Between the kinks of ReLU the logits are an affine function of any single parameter, with
    slopes d per vertex and class. Along it the third derivative of a vertex's cross-entropy is
    the third central moment of d under the softmax, at most (max d - min d)**3; that of a label's
    binary cross-entropy is at most |d|**3 / 6. So the central difference is off by at most
    h**2 / 6 times the weighted mean of that, plus rounding: the loss (below 10) is a few hundred
    operations of relative error 2**-53, divided by h.
    """
    gnn = make(network, loss=loss)
    step = 1e-4
    rounding = 10 * 1000 * 2.0**-53 / step
    train = gnn.splits == Split.TRAIN
    gradients = gnn.gradients(gnn.forward(training=True))
    for name, gradient in gradients.items():
        for index in np.ndindex(gradient.shape):
            high, layers_high = nudged(gnn, name, index, step)
            low, layers_low = nudged(gnn, name, index, -step)
            for (_, above), (_, below) in zip(layers_high[:-1], layers_low[:-1], strict=True):
                assert np.array_equal(above > 0, below > 0), "choose another seed: a kink is near"
            slopes = (layers_high[-1][1] - layers_low[-1][1])[train] / (2 * step)
            third = np.ptp(slopes, axis=1)**3 if loss == CROSS_ENTROPY else np.mean(
                abs(slopes)**3, axis=1) / 6
            bound = step**2 / 6 * np.mean(gnn.loss_weights[train] * third) + rounding
            assert abs((high - low) / (2 * step) - gradient[index]) <= bound, (name, index)


def test_dense_and_sparse_features_agree():
    dense, sparse = make(plain(0.4)), make(plain(0.4), sparse=True)
    for _ in range(3):
        dense.train_step()
        sparse.train_step()
    for name, value in dense.parameters.items():
        np.testing.assert_allclose(sparse.parameters[name], value, rtol=1e-12, atol=1e-12)


def two_steps(gnn):
    """Train; returns parameters and gradients before the first step, and before the second."""
    found = []
    for _ in range(2):
        found += [dict(gnn.parameters), gnn.gradients(gnn.forward(training=True))]
        gnn.train_step()
    return found


def test_step_is_momentum_and_decay():
    gnn = make(plain(0.0))
    gnn.recipe = Recipe(learning_rates=(0.1,), bias_learning_rates=(0.2,), weight_decays=(0.01,),
                        momentum=0.5)
    before, first, middle, second = two_steps(gnn)
    for name in before:
        rate, decay = (0.1, 0.01) if name.startswith("W") else (0.2, 0.0)
        velocity = first[name] + decay * before[name]
        np.testing.assert_allclose(middle[name], before[name] - rate * velocity)
        velocity = 0.5 * velocity + second[name] + decay * middle[name]
        np.testing.assert_allclose(gnn.parameters[name], middle[name] - rate * velocity)


def test_step_is_adam():
    gnn = make(plain(0.0))
    gnn.recipe = Recipe(optimiser="adam", learning_rates=(0.1,), bias_learning_rates=(0.2,),
                        weight_decays=(0.01,), betas=(0.5, 0.75), epsilon=0.001)
    before, first, middle, second = two_steps(gnn)
    for name in before:
        rate, decay = (0.1, 0.01) if name.startswith("W") else (0.2, 0.0)
        one = first[name] + decay * before[name]
        np.testing.assert_allclose(middle[name], before[name] - rate * one / (abs(one) + 0.001))
        two = second[name] + decay * middle[name]
        # Weighted means, of weights that add up to one.
        mean = (0.5 * one + two) / 1.5
        square = (0.75 * one**2 + two**2) / 1.75
        np.testing.assert_allclose(gnn.parameters[name],
                                   middle[name] - rate * mean / (np.sqrt(square) + 0.001))


def test_nothing_is_dropped_in_evaluations():
    dropping, other = make(plain(0.4)), make(plain(0.0))
    for (one, sums), (same, same_sums) in zip(
            dropping.forward(training=False), other.forward(training=False), strict=True):
        np.testing.assert_array_equal(one, same)
        np.testing.assert_array_equal(sums, same_sums)
    assert dropping.evaluate().mean_loss(Split.TEST) == other.evaluate().mean_loss(Split.TEST)
    assert dropping.loss(training=False) == other.loss(training=False) != dropping.loss(True)


@pytest.mark.parametrize("seed", [0, 5, 2**32 - 1])
def test_the_seed_is_the_first_steps_key(seed):
    assert make(plain(0.5), seed=seed).step_key == seed


def test_every_step_drops_others():
    gnn = make(plain(0.4))
    gnn.recipe = Recipe(learning_rates=(1.0,), schedule=((1, 0.0),))
    first = gnn.forward(training=True)[1][0]
    for step in (1, 2):
        gnn.train_step()
        assert (gnn.step, gnn.step_key) == (step, step * STEP_KEY_INCREMENT % 2**32)
    later = dict(gnn.parameters)
    assert not np.array_equal(gnn.forward(training=True)[1][0] > 0, first > 0)
    gnn.train_step()  # by the schedule, at a rate of zero
    for name, value in later.items():
        np.testing.assert_array_equal(gnn.parameters[name], value)


def test_training_lowers_the_loss():
    gnn = make(plain(0.0))
    gnn.recipe = Recipe(learning_rates=(0.05,), weight_decays=(0.0,))
    first = gnn.evaluate().mean_loss(Split.TRAIN)
    assert first == pytest.approx(gnn.loss(training=False))
    for _ in range(50):
        gnn.train_step()
    assert gnn.evaluate().mean_loss(Split.TRAIN) < 0.8 * first
