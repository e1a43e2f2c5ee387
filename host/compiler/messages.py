# SPDX-License-Identifier: BSD-2-Clause
"""Turns a sparse matrix into messages: send lists and edge sets, as memory images.

``Z = A T`` is computed by every owner of a row of ``T`` sending it once to all cores that need it,
and every receiver adding it, times an edge weight, to rows of its own. Everything here takes time
linear in the number of edges. A weight that is too large for an element becomes several edges.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Self, TypedDict

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.compiler.edge_sets import empty_edge_sets
from hypercast.host.compiler.images import Words
from hypercast.host.compiler.load import Load
from hypercast.host.compiler.message_kernels import (
    BUCKET,
    count_edges,
    fill_buckets,
    sort_entries,
    write_records,
    write_send_lists,
)
from hypercast.host.compiler.named_rows import NamedRows
from hypercast.host.compiler.network_loads import Integers
from hypercast.host.compiler.plane_choice import choose_planes
from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.rtl.config import Config
from hypercast.rtl.placement import core_of, rank_of, rows_of

__all__ = ["NO_TRAFFIC", "AggregationCounts", "Messages", "aggregation_counts", "compile_messages",
           "read_send_list"]

#: The bits of a plane; above them is what ``named_rows`` writes.
_PLANE = 3


@dataclass(frozen=True, kw_only=True)
class Messages:
    """Images of one aggregation over one strip of destination rows.

    Parameters
    ----------
    send_lists, edge_sets : list of numpy.ndarray
        For each core, (words, chunks) ``uint32``. Stream addresses are relative to the edge set.
    messages : int
        Flits injected.
    deliveries : int
        Flits ejected: the sum over messages of their destinations.
    sizes : numpy.ndarray
        (cores, streams) edges of each core's streams.
    sources : int
        Records of all send lists.
    indexed : bool
        Whether records name rows. Otherwise there is one for each row.
    config : Config
        Configuration of the chip.
    """

    send_lists: list[Words]
    edge_sets: list[Words]
    messages: int
    deliveries: int
    sizes: IntArray
    sources: int
    config: Config
    indexed: bool = False

    @property
    def edges(self) -> IntArray:
        """Edges accumulated by each core."""
        edges: IntArray = self.sizes.sum(axis=1)
        return edges

    def _records(self) -> tuple[Integers, Integers, Integers]:
        """Core, destinations and plane of each record, core by core."""
        config = self.config
        records = [read_send_list(words, rows_of(core, self.sources, config.cores), config)
                   for core, words in enumerate(self.send_lists)]
        sender = np.repeat(np.arange(config.cores), [len(part) for part, _ in records])
        destinations, planes = map(np.concatenate, zip(*records, strict=True))
        return sender, destinations, planes

    @cached_property
    def load(self) -> Load:
        """The load on the busiest engines, links and channels."""
        load = Load.of(*self._records(), self.sizes, self.config)
        return replace(load, indexed=self.indexed)

    def name_rows(self) -> Self:
        """The same messages, with send lists that name the rows that are sent."""
        sender, destinations, planes = self._records()
        [sent] = np.nonzero(destinations)
        firsts = np.searchsorted(sender, sender[sent])
        ranks = rank_of(sender[sent], sent - firsts, self.config.cores)
        named = NamedRows.of(ranks.astype(np.int64), self.config)
        there, on = np.zeros(named.count, dtype=np.uint64), np.zeros(named.count, dtype=np.uint8)
        there[named.ranks], on[named.ranks] = destinations[sent], planes[sent]
        return replace(self, send_lists=named.list_rows(_send_lists(there, on, self.config)),
                       sources=named.count, indexed=True)


def compile_messages(matrix: SparseArray, config: Config, *, first_row: int = 0,
                     rows: int | None = None) -> Messages:
    """Compile ``Z = matrix @ T`` for destination rows ``first_row .. first_row + rows - 1``.

    Takes time linear in the strip's edges and the sources. A source's message goes to all cores
    with targets of it. Its edges there follow one another in the order of targets, and the last is
    marked. The edges of a stream follow in the order of their sources.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        (targets, sources) integer mantissas of at most 32 bits, rows and columns in rank order.
    config : Config
        Configuration of the chip.
    first_row, rows : int
        Strip of local destination rows; all of them by default.
    """
    cores, sources = config.cores, matrix.shape[1]
    top = (1 << config.element_width - 1) - 1
    if not isinstance(matrix, scipy.sparse.csr_array):
        matrix = scipy.sparse.csr_array(matrix)
    # Ranks are dealt row by row, so the strip of all cores is a slice of ranks.
    first = min(first_row * cores, matrix.shape[0])
    end = matrix.shape[0] if rows is None else min((first_row + rows) * cores, matrix.shape[0])
    strip = (np.ascontiguousarray(matrix.indptr[first:end + 1], dtype=np.int64),
             np.ascontiguousarray(matrix.indices, dtype=np.int32))
    weights = np.ascontiguousarray(matrix.data, dtype=np.int64)

    bucket_ends = np.zeros(-(-sources // BUCKET), dtype=np.int64)
    entries = np.empty(strip[0][-1] - strip[0][0], dtype=np.uint64)
    fill_buckets(*strip, weights, bucket_ends, entries)
    destinations = np.zeros(sources, dtype=np.uint64)
    ends = np.empty(sources, dtype=np.int64)
    sort_entries(entries, bucket_ends, first, cores, destinations, ends)
    sender = _cores_of(1 << sources.bit_length(), cores)[:sources]
    planes = choose_planes(sender, destinations, config)

    sizes = np.zeros((cores, config.streams), dtype=np.int64)
    count_edges(entries, bucket_ends, first, cores, config.streams, top, planes,
                sizes.reshape(-1))
    edge_sets, starts, places = empty_edge_sets(sizes, config)
    write_records(entries, ends, planes, first, cores, config.streams, config.element_width, top,
                  places, edge_sets.reshape(-1))
    return Messages(send_lists=_send_lists(destinations, planes, config),
                    edge_sets=[edge_sets[start:end] for start, end in pairwise(
                        [*starts.tolist(), len(edge_sets)])],
                    messages=int(np.count_nonzero(destinations)),
                    deliveries=int(np.bitwise_count(destinations).sum()), sizes=sizes,
                    sources=sources, config=config)


def _send_lists(destinations: npt.NDArray[np.uint64], planes: npt.NDArray[np.uint8],
                config: Config) -> list[Words]:
    """Each core's send list: destinations and plane of each local row."""
    cores, record, chunks = config.cores, config.send_record_width // 32, config.chunks
    most = -(-len(destinations) // cores)
    lists = np.zeros((cores, -(-most * record // chunks), chunks), dtype="<u4")
    rows = np.empty(cores, dtype=np.int64)
    write_send_lists(destinations, planes, cores, record, rows, lists.reshape(cores, -1))
    return [records[:-(-count * record // chunks)]
            for records, count in zip(lists, rows.tolist(), strict=True)]


class AggregationCounts(TypedDict, total=False):
    """Flits injected, flits ejected and edges accumulated by one aggregation of one panel."""

    messages: int
    deliveries: int
    edges: int
    imbalance: float


#: What linear layers aggregate.
NO_TRAFFIC = AggregationCounts(messages=0, deliveries=0, edges=0, imbalance=1.0)


def aggregation_counts(strips: Sequence[Messages]) -> AggregationCounts:
    """The ``AggregationCounts`` of the messages of all strips of a matrix."""
    by_core = np.sum([messages.edges for messages in strips], axis=0)
    edges = int(by_core.sum())
    return {"messages": sum(messages.messages for messages in strips),
            "deliveries": sum(messages.deliveries for messages in strips), "edges": edges,
            "imbalance": float(by_core.max() * len(by_core) / edges) if edges else 1.0}


def read_send_list(words: Words, rows: int, config: Config) -> tuple[Integers, Integers]:
    """Destinations and planes of the rows of a send list."""
    width = min(config.send_record_width, 64)
    parts = words.reshape(-1).view(f"<u{width // 8}").reshape(
        -1, config.send_record_width // width)[:rows]
    if parts.shape[1] == 2:
        return parts[:, 0], parts[:, 1].astype(np.int64) & _PLANE
    records = parts[:, 0].astype(np.uint64)
    return (records & np.uint64((1 << config.cores) - 1),
            (records >> np.uint64(config.cores)).astype(np.int64) & _PLANE)


@lru_cache(maxsize=8)
def _cores_of(ranks: int, cores: int) -> npt.NDArray[np.uint8]:
    """Cores of the first ranks."""
    return core_of(np.arange(ranks), cores).astype(np.uint8)
