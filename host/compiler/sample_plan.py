"""Where what a sample brings lies in memory: its edges, and how many rows of each kind it has."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self, TypedDict

import numpy as np

from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.edge_matrices import EdgeMatrix
from hypercast.host.compiler.edge_sets import relocate
from hypercast.host.compiler.emitter import PlacedMessages
from hypercast.host.compiler.images import Image
from hypercast.host.compiler.memory_map import CapacityError, Listing, MemoryMap, Region
from hypercast.host.compiler.messages import Messages
from hypercast.host.compiler.vertices import RowTable, Vertices
from hypercast.reference.array_types import IntArray
from hypercast.reference.network import Network
from hypercast.reference.sample import Sample
from hypercast.rtl.config import Config

__all__ = ["Capacity", "SamplePlan"]

#: A capacity is this share larger than the samples that are known.
_SLACK = 0.15


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """What the samples of a training take at most.

    Parameters
    ----------
    rows : tuple of int
        Rows of the input, and of every layer's output.
    edges : float
        Words of edges, as a multiple of what the first sample takes.
    """

    rows: tuple[int, ...]
    edges: float

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Self:
        """Capacity for samples like the given ones, the first one among them, and some more."""
        rows = np.max([sample.rows for sample in samples], axis=0)
        edges = np.array([_edges(sample) for sample in samples])
        return cls(rows=tuple(math.ceil(count * (1 + _SLACK)) for count in rows),
                   edges=(1 + _SLACK) * float((edges.max(axis=0) / edges[0]).max()))


class AggregationCounts(TypedDict, total=False):
    """Flits injected, flits ejected and edges accumulated by one aggregation of one panel."""

    messages: int
    deliveries: int
    edges: int
    imbalance: float


def _edges(sample: Sample) -> IntArray:
    """Edges of a sample's largest matrix, and of rows that are added; at least 1 each."""
    return np.array([max(1, *map(sample.sent_edges, sample.edges)), max(1, sample.sent_roots)])


class SamplePlan:
    """Lays out the parts of a program's memory that are a sample's.

    Parameters
    ----------
    network : Network
        What is trained.
    config : Config
        Configuration of the chip.
    sample : Sample
        The first one.
    capacity : Capacity, optional
        What all samples take; if there are no others, the first one gets just what it needs.
    edges : CompiledEdges, optional
        Edges of the first sample, for any orders, if they have been compiled.

    Attributes
    ----------
    capacity : Capacity or None
        What was given.
    vertices : tuple of Vertices
        Vertices of the input, and of every layer's output.
    messages, roots : dict
        (layer, backward) to the ``emitter.PlacedMessages`` of each strip of rows that are
        aggregated, and of rows that are added to those sums. Made by ``place``.
    traffic : dict
        "messages", "deliveries", "edges" and "imbalance" of one aggregation of a panel, as in
        ``Job``. Made by ``place``.
    """

    def __init__(self, network: Network, config: Config, sample: Sample,
                 capacity: Capacity | None = None,
                 edges: CompiledEdges | None = None) -> None:
        self._network = network
        self._config = config
        self.capacity = capacity
        self._table = RowTable()
        # Levels with the same vertices share their entries of the row table.
        self._levels = [0 if sample.square else level for level in range(len(sample.rows))]
        rows = capacity.rows if capacity else sample.rows
        self.vertices = Vertices.of_layers(rows, config, self._table, self._levels)
        self._regions: dict[tuple[str, int], tuple[Region, Region]] = {}
        self._compiled: tuple[Sample, CompiledEdges] | None = None
        if edges and not edges.of_matrices(sample.edges, config):
            raise ValueError("edges were compiled for another sample or configuration")
        self._known = edges if capacity else None
        if edges and not capacity:
            self._compiled = sample, edges.used_by(network)
        self.messages: dict[tuple[int, bool], list[PlacedMessages]] = {}
        self.roots: dict[tuple[int, bool], list[PlacedMessages]] = {}
        self.traffic: AggregationCounts = {}
        self._first = sample

    def place(self, memory: MemoryMap) -> None:
        """Allocate regions for edges in a ``MemoryMap``."""
        for edges, strips in self._edges(self._first).matrices:
            places = []
            for strip, messages in strips:
                sizes = {Listing.SEND_LIST: self._list_words(edges, messages),
                         Listing.EDGE_SET: self._set_words(messages)}
                lists, sets = (
                    memory.words(f"{listing} of {edges.name}, rows from {strip.first}", 1, count,
                                 listing) for listing, count in sizes.items())
                self._regions[edges.name, strip.first] = lists, sets
                places.append(PlacedMessages(lists.address, sets.address, messages.load,
                                             self.vertices[edges.source].entry))
            users = self.roots if edges.root else self.messages
            users.update(dict.fromkeys(edges.uses, places))
            if not edges.root and not self.traffic:
                self.traffic = self._traffic([messages for _, messages in strips])

    def _list_words(self, edges: EdgeMatrix, messages: Messages) -> int:
        if not self.capacity:
            return max(len(words) for words in messages.send_lists)
        bits = self.vertices[edges.source].rows * self._config.send_record_width
        return -(-bits // self._config.word_width)

    def _set_words(self, messages: Messages) -> int:
        words = max(len(words) for words in messages.edge_sets)
        # Streams end in words of their own.
        return words if not self.capacity else (
            math.ceil(words * self.capacity.edges) + self._config.streams)

    def _traffic(self, strips: Sequence[Messages]) -> AggregationCounts:
        by_core = np.sum([messages.edges for messages in strips], axis=0)
        edges = int(by_core.sum())
        return {"messages": sum(messages.messages for messages in strips),
                "deliveries": sum(messages.deliveries for messages in strips), "edges": edges,
                "imbalance": float(by_core.max() * self._config.cores / edges) if edges else 1.0}

    def _edges(self, sample: Sample) -> CompiledEdges:
        if self._compiled is None or self._compiled[0] is not sample:
            self._compiled = sample, CompiledEdges.of(
                self._network, sample.edges, sample.root_weight, self._config,
                strips=[level.strips for level in self.vertices], symmetric=not self.capacity,
                known=self._known if sample is self._first else None)
            self._known = None
        return self._compiled[1]

    def capacity_for(self, sample: Sample) -> Capacity:
        """``Capacity`` for a sample that is too large, too; it has to be the first one then.

        It is more than was there, so that samples that differ in kind cannot ask for it in turn
        forever.
        """
        assert self.capacity  # there is nothing to exceed otherwise
        own = Capacity.of([sample])
        edges = float((self.capacity.edges * _edges(self._first) / _edges(sample)).max())
        return Capacity(rows=tuple(map(max, self.capacity.rows, own.rows)),
                    edges=max(own.edges, (1 + _SLACK) * edges))

    def rows_of(self, entry: int) -> range:
        """Range of rows, of the largest core, that an entry of the row table is of."""
        return self._table.rows(entry)

    def row_table(self, sample: Sample) -> list[list[int]]:
        """The row table of each core.

        Raises
        ------
        CapacityError
            If the sample has too many rows.
        """
        most = tuple(level.count for level in self.vertices)
        if any(count > limit for count, limit in zip(sample.rows, most, strict=True)):
            raise CapacityError(f"a sample has {sample.rows} rows of input and layers, but there "
                                f"are {most} in the job at most; compile it with more capacity")
        rows: dict[Hashable, int] = dict(zip(self._levels, sample.rows, strict=True))
        return [self._table.counts(core, self._config.cores, rows)
                for core in range(self._config.cores)]

    def images(self, sample: Sample) -> list[Image]:
        """For each core, (region name, words) pairs of the edges.

        Raises
        ------
        CapacityError
            If a region is too small.
        """
        images: list[Image] = [[] for _ in range(self._config.cores)]
        for edges, strips in self._edges(sample).matrices:
            for strip, messages in strips:
                lists, sets = self._regions[edges.name, strip.first]
                for core, image in enumerate(images):
                    words = relocate(messages.edge_sets[core], sets.address, self._config)
                    if len(words) > sets.words:
                        raise CapacityError(
                            f"{sets.name} takes {len(words)} words, but has {sets.words} in the "
                            f"job; compile it with more capacity")
                    image += [(lists.name, messages.send_lists[core]), (sets.name, words)]
        return images
