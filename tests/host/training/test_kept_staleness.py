# SPDX-License-Identifier: BSD-2-Clause
"""What is older in a training, as checkpoints name it, and what follows from that."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.training.kept_staleness import assignment_of, staleness_of
from hypercast.reference.older_weights import stash_staleness
from hypercast.reference.stale_rows import SMOOTHING_ONE


def runs_of(lengths):
    """Runs of layers of such lengths, from 1."""
    ends = [sum(lengths[:number]) for number in range(len(lengths) + 1)]
    return tuple(range(begin + 1, end + 1) for begin, end in pairwise(ends))


def kept(assignment, steps=()):
    """What a checkpoint has of it."""
    return json.loads(json.dumps(staleness_of(assignment, steps)))


@given(st.lists(st.floats(0.0, 1e9), min_size=1, max_size=5),
       st.integers(0, SMOOTHING_ONE - 1))
def test_stale_halos(parts, smoothing):
    found = Assignment(scheme="graph", parts=tuple(parts), smoothing=smoothing / SMOOTHING_ONE)
    assert assignment_of(kept(found)) == found


@given(st.lists(st.integers(1, 4), min_size=2, max_size=6))
def test_stashed_weights(lengths):
    found = Assignment(scheme="layers", stages=len(lengths), runs=runs_of(lengths))
    assert assignment_of(kept(found, stash_staleness(found.runs))) == found


@given(st.integers(1, 9))
def test_two_versions_and_chunks(count):
    found = Assignment(scheme="layers", versions=2)
    assert assignment_of(kept(found, (1,) * count)) == found
    found = Assignment(scheme="layers", chunks=count)
    assert assignment_of(kept(found)) == found


@pytest.mark.parametrize("scheme", [None, "samples", "graph", "layers"])
def test_nothing_older(scheme):
    assert kept(Assignment(scheme=scheme)) == {}
    assert assignment_of({}) == Assignment()


def test_the_most_chunks():
    """A mebi: more than boards have room for, and few enough for a list."""
    assert assignment_of({"chunks": 1 << 20}).chunks == 1 << 20


@pytest.mark.parametrize("staleness", [
    {"chunks": 0}, {"chunks": True}, {"chunks": 2.0}, {"chunks": "2"}, {"chunks": (1 << 20) + 1},
    {"chunks": 2, "steps": [1]}, {"steps": []}, {"steps": [0]}, {"steps": [2, 2]},
    {"steps": [0, 1]}, {"steps": [2, 0]}, {"steps": [1, 0, 1]}, {"steps": [-1]}, {"steps": [1.0]},
    {"steps": 1}, {"steps": None}, {"parts": [], "smoothing": 0}, {"parts": [1.0]},
    {"smoothing": 0}, {"parts": [1], "smoothing": 0}, {"parts": [-1.0], "smoothing": 0},
    {"parts": [float("nan")], "smoothing": 0}, {"parts": [float("inf")], "smoothing": 0},
    {"parts": [1.0], "smoothing": SMOOTHING_ONE}, {"parts": [1.0], "smoothing": -1},
    {"parts": [1.0], "smoothing": 0.5}, {"parts": [1.0], "smoothing": 0, "x": 1}, {"x": 1},
    None, [], 3, "x"], ids=str)
def test_what_no_training_has(staleness):
    with pytest.raises(ValueError, match=r"which no training has|cannot be .* steps older"):
        assignment_of(staleness)
