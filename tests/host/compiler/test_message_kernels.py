# SPDX-License-Identifier: BSD-2-Clause
"""Messages are, bit for bit, what a few lines of NumPy make of a matrix."""

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.load import Load
from hypercast.host.compiler.message_kernels import BUCKET
from hypercast.host.compiler.messages import compile_messages
from hypercast.host.compiler.plane_choice import choose_planes
from hypercast.rtl.config import Config
from hypercast.rtl.placement import core_of, rank_of, row_of, rows_of

CONFIGS = [
    Config(dimensions=0, lanes=4, planes=1), Config(dimensions=2, lanes=8, planes=2),
    Config(dimensions=5, lanes=2, planes=2),
    Config(dimensions=4, lanes=16, planes=4, eject=2),
    Config(dimensions=6, lanes=4, planes=4, element_width=8)]


@given(st.sampled_from(CONFIGS), st.integers(1, 80), st.integers(1, 2 * BUCKET + 9),
       st.integers(0, 400), st.sampled_from([0, 3]), st.integers(0, 999))
def test_edge_streams(config, targets, sources, edges, first_row, seed):
    """Edges of a stream are ordered by source, then target; the last of both are marked."""
    generator = np.random.default_rng(seed)
    top = (1 << config.element_width - 1) - 1
    weights = generator.integers(-3 * top, 3 * top, edges) // generator.choice([1, 9], edges)
    ends = generator.integers(targets, size=edges), generator.integers(sources, size=edges)
    matrix = scipy.sparse.coo_array((weights, ends), shape=(targets, sources)).tocsr()
    messages = compile_messages(matrix, config, first_row=first_row, rows=4)

    cores = config.cores
    target, source = matrix.tocoo().coords
    inside = (row_of(target, cores) >= first_row) & (row_of(target, cores) < first_row + 4)
    target, source, weight = target[inside], source[inside], matrix.data[inside]
    receiver, sender = core_of(target, cores), core_of(source, cores)
    destinations = np.zeros(sources, dtype=np.uint64)
    np.bitwise_or.at(
        destinations, source, np.uint64(1) << (receiver ^ sender).astype(np.uint64))
    planes = choose_planes(core_of(np.arange(sources), cores), destinations, config)
    stream = planes[source] * cores + (receiver ^ sender)
    order = np.lexsort((target, source, stream, receiver))
    lists = [[[] for _ in range(config.streams)] for _ in range(cores)]
    for edge in order:
        records = lists[receiver[edge]][stream[edge]]
        if records and records[-1][0] == source[edge]:
            records[-1][2] = 0
        left = int(weight[edge])
        while abs(left) > top:
            records.append([source[edge], (row_of(target[edge], cores) - first_row, np.sign(left)
                                           * top), 0])
            left -= int(np.sign(left)) * top
        records.append([source[edge], (row_of(target[edge], cores) - first_row, left), 1])
    mask = (1 << config.element_width) - 1
    for core in range(cores):
        header = -(-(2 + 2 * config.streams) // config.chunks) * config.chunks
        head, words = [sum(map(len, lists[core])), 0], []
        for records in lists[core]:
            count = -(-len(records) // config.chunks)
            head += [(header + len(words)) // config.chunks, count]
            part = [int(row) << 16 | int(value) & mask | last << 31
                    for _, (row, value), last in records]
            if part:
                part[-1] |= 1 << 30
            words += part + [0] * (count * config.chunks - len(part))
        head += [0] * (header - len(head))
        assert messages.edge_sets[core].ravel().tolist() == head + words
        check_send_list(messages.send_lists[core], core, destinations, planes, config)
    sizes = np.array([[len(records) for records in part] for part in lists])
    assert messages.load == Load.of(
        core_of(np.arange(sources), cores), destinations, planes, sizes, config)
    assert messages.edges.tolist() == [sum(map(len, lists[core])) for core in range(cores)]


def test_edges_of_more_buckets_than_two():
    """On one core, all edges are one stream, ordered by source, then target."""
    config, generator = CONFIGS[0], np.random.default_rng(0)
    matrix = scipy.sparse.random_array((4, 4 * BUCKET), density=0.02, rng=generator, format="csc")
    matrix.data = generator.integers(1, 100, matrix.nnz)
    matrix.sort_indices()
    [edges] = compile_messages(matrix.tocsr(), config, first_row=0, rows=4).edge_sets
    words = matrix.indices.astype(np.int64) << 16 | matrix.data
    words[np.unique(matrix.indptr[1:])[1:] - 1] |= 1 << 31
    words[-1] |= 1 << 30
    header = -(-(2 + 2 * config.streams) // config.chunks) * config.chunks
    assert edges.ravel()[header:header + len(words)].tolist() == words.tolist()
    assert edges.ravel()[0] == len(words)


def check_send_list(words, core, destinations, planes, config):
    rows = rows_of(core, len(destinations), config.cores)
    found = np.zeros(-(-rows * config.send_record_width // config.word_width)
                     * config.word_width // 8, dtype=np.uint8)
    for row in range(rows):
        rank = rank_of(core, row, config.cores)
        record = int(destinations[rank]) | int(planes[rank]) << config.cores
        octets = config.send_record_width // 8
        found[row * octets:(row + 1) * octets] = list(record.to_bytes(octets, "little"))
    assert words.view(np.uint8).ravel().tolist() == found.tolist()
