# SPDX-License-Identifier: BSD-2-Clause
"""Subgraphs are subgraphs, and their weights make them stand for the graph."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.sampling.draws import EdgeDraw, NodeDraw, RandomWalkDraw
from hypercast.host.graphs.sampling.saint import SaintSampler
from tests.host.graphs.sampling.sampling_cases import deviation, matrices, matrix_of
from tests.host.graphs.sampling.test_neighbour import digest

DRAWS = {
    "node": lambda matrix: NodeDraw(matrix, 20),
    "edge": lambda matrix: EdgeDraw(matrix, 8),
    "random walk": lambda matrix: RandomWalkDraw(matrix, 6, 2),
}
POOL, BITS = 66, "dd3751620d48c5721c984477b8485bc796a9ffec9ea21eafbbd017639e27ed3a"
VALUES = np.linspace(0.2, 1, 30)


def sampler_of(kind="random walk", matrix=None, **changes):
    matrix = matrix_of(30, 200) if matrix is None else matrix
    return SaintSampler(matrix, DRAWS[kind](matrix), **{"layers": 2, "coverage": 30} | changes)


def whole_pool(sampler):
    """Every subgraph of the pool, once."""
    return [sampler.batch(*divmod(number, len(sampler))) for number in range(sampler.pool)]


@given(matrices(), st.integers(1, 3), st.integers(0, 9))
def test_subgraphs(matrix, layers, seed):
    sampler = sampler_of(matrix=matrix, layers=layers, seed=seed, coverage=2)
    for batch in whole_pool(sampler):
        vertices = batch.targets
        assert len(np.unique(vertices)) == len(vertices) == len(batch.loss_weights)
        assert len(batch.levels) == layers + 1 and len(batch.matrices) == layers
        assert all(level is vertices for level in batch.levels)
        part = batch.matrices[0]
        part.check_format(full_check=True)
        found, whole = part.todense(), matrix[vertices][:, vertices].todense()
        assert ((found > 0) == (whole > 0)).all()
        assert (found >= whole * (1 - 1e-12)).all()
        np.testing.assert_allclose(found.diagonal(), whole.diagonal())


@pytest.mark.parametrize("kind", DRAWS)
def test_the_pool_stands_for_the_graph(kind):
    """Exactly, but for vertices and edges that are in no subgraph."""
    matrix = matrix_of(30, 200)
    sampler = sampler_of(kind, matrix)
    loss, sums, visits = 0.0, np.zeros(30), np.zeros(30, dtype=int)
    met = np.zeros((30, 30), dtype=bool)
    for batch in whole_pool(sampler):
        loss += batch.loss_weights @ VALUES[batch.targets]
        sums[batch.targets] += batch.matrices[0] @ VALUES[batch.targets]
        visits[batch.targets] += 1
        met[np.ix_(batch.targets, batch.targets)] = True
    assert visits.tolist() == sampler.visits.tolist() and visits.all()
    assert loss / sampler.pool == pytest.approx(VALUES.mean())
    np.testing.assert_allclose(sums / visits, (matrix.todense() * met) @ VALUES)
    assert met[matrix.todense() > 0].mean() > 0.95


@pytest.mark.parametrize("kind", DRAWS)
def test_other_samples_have_the_expected_loss_of_the_graph(kind):
    """Weights from one pool, subgraphs of another.

    Where p is the probability of a vertex and q its estimate, the expected value is off by the mean
    of (p / q - 1) times the loss; the mean of the second pool has a deviation of its own.
    """
    known, other = (sampler_of(kind, seed=seed, coverage=1_000) for seed in (1, 2))
    estimates = known.visits / known.pool
    values = estimates / estimates.max()  # vertices that are drawn often have a large loss
    weights = 1 / (estimates * len(estimates))
    batches = whole_pool(other)
    losses = [weights[batch.targets] @ values[batch.targets] for batch in batches]
    error = abs(np.mean(losses) - values.mean())
    bound = (values / estimates).mean() * deviation(known.pool, 30) \
        + weights @ values * deviation(other.pool)
    assert error <= bound < 0.4 * values.mean()
    uniform = np.mean([values[batch.targets].mean() for batch in batches])
    assert error < abs(uniform - values.mean()) / 2


def test_every_turn_has_another_order():
    sampler = sampler_of(coverage=4)
    turns = [[digest(sampler.batch(*divmod(turn * sampler.pool + number, len(sampler))))
              for number in range(sampler.pool)] for turn in range(2)]
    assert turns[0] != turns[1] and sorted(turns[0]) == sorted(turns[1])


def test_batches_of_the_same_number_are_the_same():
    sampler = sampler_of(coverage=4)
    found = {}
    for place in range(2 * sampler.pool):
        epoch, number = divmod(place, len(sampler))
        batch = sampler.batch(epoch, number)
        first = found.setdefault(batch.number, digest(batch))
        assert digest(batch) == first
    assert sorted(found) == list(range(sampler.pool))


def test_these_bits():
    """The same on every machine, with any number of threads."""
    for workers in (1, 3):
        sampler = sampler_of(seed=5, workers=workers)
        assert sampler.pool == POOL
        assert digest(sampler.batch(1, 0)) == BITS


def test_an_epoch_is_as_many_vertices_as_the_graph_has():
    sampler = sampler_of()
    sizes = [len(batch.targets) for batch in whole_pool(sampler)]
    assert len(sampler) * np.mean(sizes) == pytest.approx(30, rel=0.2)


@pytest.mark.parametrize("changes", [{"layers": 0}, {"coverage": 0}])
def test_refusals(changes):
    with pytest.raises(ValueError, match="layers must be at least 1 and coverage above 0, not"):
        sampler_of(**changes)
