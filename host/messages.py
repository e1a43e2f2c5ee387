"""Turns a sparse matrix into messages: send lists, edge streams, and their memory images.

``Z = A T`` is computed by every owner of a row of ``T`` sending it once to all cores that need it,
and every receiver adding it, times an edge weight, to rows of its own. Everything here takes time
linear in the number of edges.
"""

from dataclasses import dataclass

import numpy as np

from hypercast.host.packing import pack_records
from hypercast.host.plane_choice import choose_planes
from hypercast.rtl.placement import core_of, rank_of, row_of, rows_of

__all__ = ["Messages", "compile_messages", "relocate"]


@dataclass(frozen=True, kw_only=True)
class Messages:
    """Images of one aggregation over one tile of destination rows.

    Parameters
    ----------
    send_lists, edge_sets : list of numpy.ndarray
        For each core, (words, chunks) ``uint32``. Stream addresses are relative to the edge set.
    messages : int
        Flits injected.
    deliveries : int
        Flits ejected: the sum over messages of their destinations.
    edges : numpy.ndarray
        Edges accumulated by each core.
    """

    send_lists: list
    edge_sets: list
    messages: int
    deliveries: int
    edges: np.ndarray


def compile_messages(matrix, config, *, first_row=0, rows=None):
    """Compile ``Z = matrix @ T`` for destination rows ``first_row .. first_row + rows - 1``.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        (V, V) integer mantissas, rows and columns in rank order.
    config : Config
        Configuration of the chip.
    first_row, rows : int
        Tile of local destination rows; all of them by default.
    """
    vertices = matrix.shape[0]
    columns = matrix.tocsc()
    source = np.repeat(np.arange(vertices), np.diff(columns.indptr))
    target, weight = columns.indices.astype(np.int64), columns.data
    row = row_of(target, config.cores) - first_row
    if rows is not None or first_row:
        last = config.accumulator_rows if rows is None else rows
        inside = (row >= 0) & (row < last)
        source, target, weight, row = source[inside], target[inside], weight[inside], row[inside]
    receiver = core_of(target, config.cores)
    relative = receiver ^ core_of(source, config.cores)

    needed = np.zeros((vertices, config.cores), dtype=bool)
    needed[source, relative] = True
    planes = _choose_planes(needed, config)

    stream = planes[source] * config.cores + relative
    group = receiver * config.streams + stream
    # Edges are in order of source; a stable radix sort by (core, stream) keeps that order inside.
    order = np.argsort(group.astype(np.uint16), kind="stable")
    edges = _pack_edges(source[order], receiver[order], row[order], weight[order], config)
    sizes = np.bincount(group, minlength=config.cores * config.streams)
    sizes = sizes.reshape(config.cores, config.streams)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    edge_sets = [
        _edge_set(edges[starts[core * config.streams]:starts[(core + 1) * config.streams]],
                  sizes[core], config)
        for core in range(config.cores)]
    send_lists = [_send_list(needed, planes, core, vertices, config)
                  for core in range(config.cores)]
    return Messages(send_lists=send_lists, edge_sets=edge_sets,
                    messages=int(needed.any(axis=1).sum()), deliveries=int(needed.sum()),
                    edges=sizes.sum(axis=1))


def _choose_planes(needed, config):
    """The plane of every vertex's message; the cores send theirs row by row."""
    ranks = np.arange(len(needed))
    weights = np.uint64(1) << np.arange(config.cores, dtype=np.uint64)
    masks = (needed * weights).sum(axis=1, dtype=np.uint64)
    return choose_planes(core_of(ranks, config.cores), masks, config)


def _pack_edges(source, receiver, row, weight, config):
    """Edge records, in stream order."""
    last = np.ones(len(source), dtype=bool)
    last[:-1] = (source[1:] != source[:-1]) | (receiver[1:] != receiver[:-1])
    mantissa = weight.astype(np.int64) & ((1 << config.element_width) - 1)
    return (mantissa | row << 16 | last.astype(np.int64) << 31).astype("<u4")


def _edge_set(edges, sizes, config):
    """Header and word-aligned streams of one core; stream addresses relative to the set."""
    per_word = config.word_width // 32
    words = -(-sizes // per_word)
    header = -(-(2 + 2 * config.streams) // per_word)
    starts = header + np.concatenate(([0], np.cumsum(words)))[:-1]
    records = np.zeros((header + int(words.sum())) * per_word, dtype="<u4")
    records[0] = len(edges)
    records[2:2 + 2 * config.streams:2] = starts
    records[3:3 + 2 * config.streams:2] = words
    within = np.arange(len(edges)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    records[np.repeat(starts * per_word, sizes) + within] = edges
    return records.reshape(-1, config.chunks)


def _send_list(needed, planes, core, vertices, config):
    """Send list of one core: destination mask and plane of each local row."""
    ranks = rank_of(core, np.arange(rows_of(core, vertices, config.cores)), config.cores)
    bits = np.zeros((len(ranks), config.send_record_width), dtype=np.uint8)
    bits[:, :config.cores] = needed[ranks]
    bits[:, config.cores] = planes[ranks] & 1
    bits[:, config.cores + 1] = planes[ranks] >> 1
    return pack_records(np.packbits(bits, axis=1, bitorder="little"), config)


def relocate(edge_set, address, config):
    """The edge set as it has to look at ``address`` of a memory channel."""
    records = edge_set.copy().reshape(-1)
    records[2:2 + 2 * config.streams:2] += np.uint32(address)
    return records.reshape(edge_set.shape)
