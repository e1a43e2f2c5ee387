# SPDX-License-Identifier: BSD-2-Clause
"""Vertices are drawn as often as GraphSAINT's samplers have to, by closed formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.sampling.draws import EdgeDraw, NodeDraw, RandomWalkDraw, WeightedDraw
from tests.host.graphs.sampling.sampling_cases import deviation, matrix_of

SAMPLES = 12_000
MATRIX = matrix_of(12, 30)


def frequencies(draw):
    """How often each vertex is in a sample."""
    generator = np.random.default_rng(1)
    counts = np.zeros(MATRIX.shape[0])
    for _ in range(SAMPLES):
        vertices = draw(generator)
        assert (np.diff(vertices) > 0).all()
        counts[vertices] += 1
    return counts / SAMPLES


def check(draw, expected):
    assert 0 < expected.min() and expected.max() < 1
    assert np.ptp(expected) > 4 * deviation(SAMPLES, 12)  # or any probabilities would do
    assert abs(frequencies(draw) - expected).max() <= deviation(SAMPLES, 12)


def test_node():
    columns = (MATRIX.todense()**2).sum(axis=0)
    check(NodeDraw(MATRIX, 5), 1 - (1 - columns / columns.sum())**5)


def test_edge():
    present = MATRIX.todense() > 0
    np.fill_diagonal(present, False)
    inverse = 1 / (present.sum(axis=0) + present.sum(axis=1))
    weights = present * (inverse[:, None] + inverse)
    ends = weights.sum(axis=0) + weights.sum(axis=1)
    check(EdgeDraw(MATRIX, 3), 1 - (1 - ends / weights.sum())**3)


def test_random_walk():
    present = MATRIX.todense() > 0
    np.fill_diagonal(present, False)
    steps = present / np.maximum(present.sum(axis=1, keepdims=True), 1)
    steps[np.flatnonzero(~present.any(axis=1)), np.flatnonzero(~present.any(axis=1))] = 1
    met = own = np.eye(12)  # (vertex, where the walk starts): whether it meets the vertex
    for _ in range(2):
        met = np.maximum(own, met @ steps.T)
    check(RandomWalkDraw(MATRIX, 3, 2), 1 - (1 - met.mean(axis=1))**3)


@given(st.integers(1, 12), st.integers(1, 20), st.integers(0, 3))
def test_walks_stay_where_nothing_leads_on(vertices, roots, length):
    draw = RandomWalkDraw(np.eye(vertices), roots, length)
    assert len(draw(np.random.default_rng(0))) <= min(roots, vertices)


def test_walks_follow_edges():
    path = np.eye(6, k=1)  # row 0 has column 1, and so on
    for seed in range(20):
        vertices = RandomWalkDraw(path, 1, 3)(np.random.default_rng(seed))
        assert vertices.tolist() == list(range(vertices[0], min(vertices[0] + 4, 6)))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9).filter(any), st.integers(0, 20))
def test_nothing_of_weight_zero_is_drawn(weights, count):
    drawn = WeightedDraw(np.array(weights, dtype=float))(count, np.random.default_rng(0))
    assert len(drawn) == count and all(weights[number] > 0 for number in drawn)


@pytest.mark.parametrize(("draw", "arguments", "message"), [
    (NodeDraw, (MATRIX, 0), "budget must be at least 1, not 0"),
    (EdgeDraw, (MATRIX, 0), "budget must be at least 1, not 0"),
    (EdgeDraw, (np.eye(3), 2), "to train on, has no edges; draw nodes or walks instead"),
    (NodeDraw, (np.zeros((3, 3)), 2), "there is nothing to draw from"),
    (RandomWalkDraw, (MATRIX, 0, 2), "roots must be at least 1 and length at least 0, not 0 and 2"),
    (RandomWalkDraw, (MATRIX, 2, -1), "not 2 and -1"),
])
def test_refusals(draw, arguments, message):
    with pytest.raises(ValueError, match=message):
        draw(*arguments)
