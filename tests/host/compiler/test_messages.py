# SPDX-License-Identifier: BSD-2-Clause
"""Send lists and edge streams against the product they stand for."""

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.edge_sets import relocate
from hypercast.host.compiler.load import Load
from hypercast.host.compiler.messages import compile_messages
from hypercast.rtl.config import Config
from hypercast.rtl.placement import core_of, rank_of, row_of, rows_of

CONFIGS = [
    Config(dimensions=0, lanes=4, planes=1),
    Config(dimensions=1, lanes=2, planes=1, element_width=8),
    Config(dimensions=2, lanes=4, planes=2),
    Config(dimensions=4, lanes=16, planes=4),
    Config(dimensions=5, lanes=8, planes=4, element_width=8),
    Config(dimensions=6, lanes=2, planes=2),
]


def _bits(words, width):
    octets = np.ascontiguousarray(words).view(np.uint8).ravel()
    bits = np.unpackbits(octets, bitorder="little").reshape(-1, width)
    return bits


def _deliver(messages, values, vertices, config, first_row, rows):
    """What the receivers' accumulators hold: replays the images as the hardware reads them."""
    cores = config.cores
    per_word = config.word_width // 32
    edges = [words.ravel() for words in messages.edge_sets]
    positions = {}
    result = np.zeros((cores, rows), dtype=np.int64)
    for source in range(cores):
        records = _bits(messages.send_lists[source], config.send_record_width)
        for row in range(rows_of(source, vertices, cores)):
            destinations = records[row, :cores]
            plane = int(records[row, cores]) + 2 * int(records[row, cores + 1])
            assert plane < config.planes
            value = values[rank_of(source, row, cores)]
            for relative in np.flatnonzero(destinations):
                target = source ^ int(relative)
                stream = plane * cores + int(relative)
                header = edges[target]
                at = positions.get((target, stream), int(header[2 + 2 * stream]) * per_word)
                while True:
                    record = int(edges[target][at])
                    at += 1
                    weight = record & (1 << config.element_width) - 1
                    weight -= (weight >> config.element_width - 1) << config.element_width
                    result[target, record >> 16 & 0x3FFF] += weight * value
                    if record >> 31:
                        break
                    assert not record >> 30 & 1
                positions[target, stream] = at
    for (target, stream), at in positions.items():
        start, words = (int(edges[target][2 + 2 * stream + part]) for part in range(2))
        assert -(-(at - start * per_word) // per_word) == words
        marks = edges[target][start * per_word:at] >> 30 & 1
        assert np.flatnonzero(marks).tolist() == [at - start * per_word - 1]
    for target in range(cores):
        assert edges[target][0] == messages.edges[target]
    return result


@st.composite
def matrices(draw):
    vertices = draw(st.integers(1, 40))
    scale = draw(st.sampled_from([1, 1, 9, 400]))  # beyond 1, weights do not fit an element
    count = draw(st.integers(0, 120))
    ends = st.integers(0, vertices - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), min_size=count, max_size=count, unique=True)
                 if count <= vertices * vertices // 2 else st.just([]))
    matrix = np.zeros((vertices, vertices), dtype=np.int64)
    for index, (i, j) in enumerate(pairs):
        matrix[i, j] = ((index * 37 + 5) % 255 - 127 or 1) * scale
    return matrix


@given(matrix=matrices(), config=st.sampled_from(CONFIGS), first=st.sampled_from([0, 0, 2]),
       targets=st.integers(1, 40))
def test_messages_compute_the_product(matrix, config, first, targets):
    matrix = matrix[:targets]
    vertices = matrix.shape[1]
    rows = 16 if first else None
    messages = compile_messages(scipy.sparse.csr_array(matrix), config, first_row=first, rows=rows)
    values = np.arange(1, vertices + 1)
    expected = np.zeros((config.cores, 64), dtype=np.int64)
    for rank, total in enumerate(matrix @ values):
        row = row_of(rank, config.cores) - first
        if 0 <= row < (rows or 64):
            expected[core_of(rank, config.cores), row] = total
    got = _deliver(messages, values, vertices, config, first, 64)
    assert np.array_equal(got, expected)


def test_more_targets_than_sources():
    """As backward in a sample, whose targets are the sources of the way forward."""
    matrix = np.zeros((40, 3), dtype=np.int64)
    matrix[::7, 1], matrix[39] = 5, [1, 2, 3]
    for config in CONFIGS:
        messages = compile_messages(scipy.sparse.csr_array(matrix), config)
        got = _deliver(messages, np.array([1, 10, 100]), 3, config, 0, 64)
        ranks = np.arange(40)
        assert np.array_equal(got[core_of(ranks, config.cores), row_of(ranks, config.cores)],
                              matrix @ [1, 10, 100])


def test_a_large_weight_is_several_edges():
    matrix = scipy.sparse.csr_array(np.array([[127, 0], [-300, 255], [0, 0]]))
    for width, edges in ((8, [1, 3 + 3]), (16, [1, 2])):
        config = Config(dimensions=1, lanes=2, planes=1, element_width=width)
        assert compile_messages(matrix, config).edges.tolist() == edges


def test_symmetric_matrix_sends_each_row_once():
    matrix = scipy.sparse.csr_array(np.ones((32, 32), dtype=np.int64))
    messages = compile_messages(matrix, Config(dimensions=4))
    assert messages.messages == 32
    assert messages.deliveries == 32 * 16
    assert messages.edges.sum() == 32 * 32



def test_edge_sets_are_relocated():
    """All streams' addresses move, nothing else does."""
    matrix = scipy.sparse.csr_array(np.ones((32, 32), dtype=np.int64))
    for config in CONFIGS:
        original = compile_messages(matrix, config).edge_sets[0]
        moved = relocate(original, 1000, config)
        streams = range(2, 2 + 2 * config.streams, 2)
        expected = original.ravel().astype(np.int64)
        expected[list(streams)] += 1000
        assert np.array_equal(moved.ravel(), expected) and moved.shape == original.shape


@given(matrix=matrices(), config=st.sampled_from(CONFIGS))
def test_load_is_that_of_the_send_lists(matrix, config):
    messages = compile_messages(matrix, config)
    sources = matrix.shape[1]
    sender, destinations, planes = [], [], []
    for core, words in enumerate(messages.send_lists):
        records = _bits(words, config.send_record_width)[:rows_of(core, sources, config.cores)]
        for record in records:
            sender.append(core)
            destinations.append(sum(1 << int(bit) for bit in np.flatnonzero(record[:config.cores])))
            planes.append(int(record[config.cores]) + 2 * int(record[config.cores + 1]))
    expected = Load.of(np.array(sender, dtype=np.int64), np.array(destinations, dtype=np.uint64),
                       np.array(planes, dtype=np.int64), messages.sizes, config)
    assert messages.load == expected


def test_counts_of_messages():
    """The matrix has a column for one core, one for two, and two empty ones."""
    config = Config(dimensions=1, planes=1, lanes=2)
    matrix = np.zeros((4, 4), dtype=np.int64)
    one, other = (next(rank for rank in range(4) if core_of(rank, 2) == core) for core in (0, 1))
    matrix[one, 0] = matrix[one, 1] = matrix[other, 1] = 3
    messages = compile_messages(scipy.sparse.csr_array(matrix), config)
    assert (messages.messages, messages.deliveries) == (2, 3)
    assert messages.edges.tolist() == [2, 1]
