# SPDX-License-Identifier: BSD-2-Clause
"""Loads count what messages ask of every resource, on examples done by hand."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler.load import Load
from hypercast.host.compiler.messages import compile_messages
from tests.host.models import SMALL
from tests.host.noted_programs import noted, summary

#: Four cores.
CONFIG = SMALL.replace(dimensions=2, lanes=4)


def load(sender, destinations, sizes=None):
    """One plane; as many edges in each of a core's streams as ``sizes`` says."""
    streams = np.zeros((CONFIG.cores, CONFIG.streams), dtype=int) if sizes is None else sizes
    return Load.of(np.array(sender, dtype=int), np.array(destinations, dtype=int),
                   np.zeros(len(sender), dtype=int), streams, CONFIG)


def test_flits():
    """Core 0 sends two rows to core 1, core 1 one to all others; core 2 keeps its own."""
    found = load([0, 0, 1, 2], [0b0010, 0b0010, 0b1110, 0])
    assert (found.messages, found.sent) == (3, 2)
    assert found.ejected == 2  # at core 1
    assert found.links == 2  # from core 0 to 1
    assert (found.rows, found.total_rows) == (1, 4)


def test_edges():
    """Streams of an aggregator are added up, words are counted stream by stream."""
    sizes = np.zeros((CONFIG.cores, CONFIG.streams), dtype=int)
    sizes[1, :2] = [5, 1]
    sizes[2, 0] = 4
    found = load([], [], sizes)
    assert (found.edges, found.arrivals) == (10, 6)
    words = [-(-size // CONFIG.chunks) for size in (5, 1, 4)]
    assert found.words == words[0] + words[1] and found.total_words == sum(words)


def test_nothing():
    found = load([], [])
    assert set(vars(found).values()) == {0}


def test_load_of_a_graph_is_that_of_its_messages():
    rng = np.random.default_rng(0)
    matrix = (scipy.sparse.random_array((23, 23), density=0.2, rng=rng) != 0).astype(int).tocsr()
    messages = compile_messages(matrix, CONFIG, first_row=0, rows=6)
    found = messages.load
    assert (found.edges, found.messages) == (matrix.nnz, messages.messages)
    assert (found.rows, found.total_rows) == (6, 23)
    assert found.total_words >= -(-matrix.nnz // CONFIG.chunks)
    assert found.arrivals == messages.edges.max()  # of a single aggregator


@pytest.mark.parametrize("name", ["plain", "several strips", "sixteen cores"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
