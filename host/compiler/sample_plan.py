# SPDX-License-Identifier: BSD-2-Clause
"""Where what a sample brings lies in memory: its edges, and how many rows of each kind it has."""

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from hypercast.errors import InputError
from hypercast.host.compiler.compiled_edges import CompiledEdges, CompiledMatrix
from hypercast.host.compiler.edge_matrices import (
    EdgeMatrix,
    edge_matrices,
    of_layers,
    shared_edge_matrices,
)
from hypercast.host.compiler.edge_sets import relocate
from hypercast.host.compiler.emitter import PlacedMessages
from hypercast.host.compiler.images import Image
from hypercast.host.compiler.memory_map import (
    LABELS,
    CapacityError,
    Listing,
    MemoryMap,
    Region,
    second,
)
from hypercast.host.compiler.messages import AggregationCounts, Messages, aggregation_counts
from hypercast.host.compiler.named_rows import NamedRows
from hypercast.host.compiler.sample_capacity import SLACK, Capacity, edge_counts
from hypercast.host.compiler.timing import Timing
from hypercast.host.compiler.vertices import RowTable, Strip, Vertices
from hypercast.host.files.kept_values import KeptValues
from hypercast.reference.network import Network
from hypercast.reference.sample import Sample
from hypercast.rtl.config import Config

__all__ = ["SamplePlan"]

#: The aggregation of the input features.
_FIRST = 1, False


class SamplePlan:
    """Lays out the parts of a program's memory that are a sample's.

    Parameters
    ----------
    network : Network
        The network that is trained.
    config : Config
        Configuration of the chip.
    sample : Sample
        The first one.
    capacity : Capacity, optional
        What all samples take; if there are no others, the first one gets just what it needs.
    edges : CompiledEdges, optional
        Edges of the first sample, for any orders, if they have been compiled.
    ahead : bool
        Whether a step aggregates the next sample's input features: the edges of that aggregation,
        and the numbers of its rows, lie apart from the lists of the sample that it trains on.
    resident : bool
        Whether the features of the whole graph stay in memory, and send lists name rows of them.
    layers : range
        Layers (from 1) that there are edges for; all of them if empty.

    Attributes
    ----------
    capacity : Capacity or None
        What was given.
    vertices : tuple of Vertices
        Vertices of the input, and of every layer's output.
    following : tuple of Vertices
        Vertices of the next sample's input, and of its first layer's output; empty unless
        ``ahead``.
    sources : tuple of Vertices
        Rows that edges come from, and transposed ones, if others have some of them; else empty.
    pairs : list of (str, str)
        Names of both regions of each list that there is twice. Made by ``place``.
    messages, roots : dict
        (layer, backward) to the ``emitter.PlacedMessages`` of each strip of rows that are
        aggregated, and of rows that are added to these sums. Made by ``place``.
    traffic : dict
        "messages", "deliveries", "edges" and "imbalance" of one aggregation of a panel, as in
        ``Job``. Made by ``place``.
    """

    #: Whether lists of all strips of a matrix have the same size: a constant distance apart, they
    #: can be used in a loop.
    level = False

    def __init__(self, network: Network, config: Config, sample: Sample,
                 capacity: Capacity | None = None,
                 edges: CompiledEdges | None = None, *, ahead: bool = False,
                 resident: bool = False, layers: range = range(0)) -> None:
        self._network = network
        self._layers = layers or range(1, len(network.layers) + 1)
        self._ahead = ahead
        self._resident = resident
        self._config = config
        self.capacity = capacity
        self._table = RowTable(config)
        self._square = capacity.square if capacity else sample.square
        # Levels with the same vertices share their entries of the row table.
        self._levels: list[Hashable] = [
            0 if self._square or sample.rows_here.shared else level
            for level in range(len(sample.rows))]
        rows = capacity.rows if capacity else self.rows_of_sample(sample)
        #: What was listed of the last samples that are in use at once.
        self._listed: list[tuple[Sample, NamedRows]] = []
        if resident:
            self._levels[0] = "listed"
            rows = self._most_records(sample, rows[0]), *rows[1:]
        self._next_levels = [("next", level) for level in self._levels[:2]] if ahead else []
        #: What edges come from, both ways, if others have some of it.
        self._sources = self._with_others(sample) if sample.rows_here.shared else {}
        vertices = iter(Vertices.of_layers(
            [*rows, *rows[:len(self._next_levels)], *self._sources.values()], config, self._table,
            [*self._levels, *self._next_levels, *self._sources]))
        self.vertices = tuple(itertools.islice(vertices, len(rows)))
        self.following = tuple(itertools.islice(vertices, len(self._next_levels)))
        self.sources = tuple(vertices)
        self._regions: dict[tuple[str, int], tuple[str, str]] = {}
        #: Messages of strips whose send lists name rows, by matrix and first row.
        self._named: dict[tuple[str, int], Messages] = {}
        self.pairs: list[tuple[str, str]] = []
        #: The last samples that are in use at once, and what was compiled of them.
        self._compiled: list[tuple[Sample, CompiledEdges]] = []
        if edges and not edges.of_matrices(sample.edges, config):
            raise InputError("edges were compiled for another sample or configuration")
        self._known = edges if capacity else None
        self._kept = KeptValues[CompiledEdges]()
        if edges and not capacity:
            self._compiled = [(sample, edges.select(network).of_layers(self._layers))]
        self.messages: dict[tuple[int, bool], list[PlacedMessages]] = {}
        self.roots: dict[tuple[int, bool], list[PlacedMessages]] = {}
        self.traffic: AggregationCounts = {}
        self._first = sample

    @property
    def slowdown(self) -> CapacityError | None:
        """What makes aggregations slower than they could be, see ``RowTable``."""
        return self._table.slowdown

    def place(self, memory: MemoryMap) -> None:
        """Allocate regions for edges in a ``MemoryMap``: two for each list if there are two places.

        Whatever was allocated in another map is forgotten.
        """
        self.pairs = [(LABELS, second(LABELS))] if self.twice else []
        self.messages.clear()
        self.roots.clear()
        for edges, strips in self._matrices(self._first, self._first):
            rows = self.following if edges.uses == (_FIRST,) and self._ahead else (
                *self.vertices, *self.sources)
            entry, places = rows[edges.source].entry, []
            chosen = self._choose_lists(edges.name, strips, entry) if len(strips) > 1 else [
                (entry, messages) for _, messages in strips]
            sizes = {
                Listing.SEND_LIST: self._level(
                    [self._list_words(edges, messages) for _, messages in chosen]),
                Listing.EDGE_SET: self._level([self._set_words(one) for _, one in chosen])}
            for number, ((strip, _), (entry, messages)) in enumerate(
                    zip(strips, chosen, strict=True)):
                lists, sets = (
                    self._place(memory, f"{listing} of {edges.name}, rows from {strip.first}",
                                counts[number], listing) for listing, counts in sizes.items())
                self._regions[edges.name, strip.first] = lists.name, sets.name
                load = replace(messages.load,
                               indexed=messages.indexed or self._names_rows(edges))
                places.append(PlacedMessages(lists.address, sets.address, load, entry))
            users = self.roots if edges.root else self.messages
            users.update(dict.fromkeys(edges.uses, places))
            if not edges.root and not self.traffic:
                self.traffic = aggregation_counts([messages for _, messages in strips])

    def _choose_lists(self, name: str, strips: Sequence[tuple[Strip, Messages]],
                      entry: int) -> list[tuple[int, Messages]]:
        """Entries of the row table, and messages, of strips: rows are named if that is faster.

        All strips name them or none, so that they are alike. Samples that take turns in one place
        have lists of any length, and lists of resident features name rows already.
        """
        plain = [(entry, messages) for _, messages in strips]
        timing, table = Timing(self._config), self._table
        loads, keys = [messages.load for _, messages in strips], [
            (name, strip.first) for strip, _ in strips]
        if self.capacity or self._ahead or self._resident or not timing.prefers_names(loads) \
                or not table.has_room(keys):
            return plain
        found = []
        for key, (_, messages) in zip(keys, strips, strict=True):
            self._named[key] = named = messages.name_rows()
            own = table.entry(key, named.load.rows)
            assert own is not None  # there is room
            found.append((own, named))
        return found

    def _level(self, words: Sequence[int]) -> Sequence[int]:
        """Words of each strip's list: as many for all, if lists are to have one size."""
        return [max(words)] * len(words) if self.level else words

    def _place(self, memory: MemoryMap, name: str, count: int, listing: Listing) -> Region:
        if self.twice:
            self.pairs.append((name, second(name)))
            memory.words(second(name), 1, count, listing)
        return memory.words(name, 1, count, listing)

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

    def _names_rows(self, edges: EdgeMatrix) -> bool:
        """Whether the send lists of a matrix name the rows that they are of.

        No rows are added in a layer that aggregates first, whatever lists there are for that.
        """
        return self._resident and _FIRST in edges.uses and not edges.root

    def _records(self, sample: Sample) -> NamedRows:
        """Where the send lists name the rows of a sample's input."""
        for known, listed in self._listed:
            if known is sample:
                return listed
        assert sample.origin  # what makes samples whose features are resident gives it
        listed = NamedRows.of(sample.origin.rows, self._config)
        self._listed = [*self._listed, (sample, listed)][-1 - self._ahead:]
        return listed

    def _most_records(self, sample: Sample, rows: int) -> int:
        """Records of all send lists of samples with so many rows at most, and some more."""
        assert sample.origin
        vertices = sample.origin.matrix.values.shape[0]
        own = math.ceil(self._records(sample).count / self._config.cores * (1 + SLACK))
        return self._config.cores * max(own, NamedRows.most(rows, vertices, self._config))

    def _rows(self, sample: Sample) -> tuple[int, ...]:
        """Records or rows of a sample's input, and rows of every layer's output."""
        if not self._resident:
            return self.rows_of_sample(sample)
        return self._records(sample).count, *sample.rows[1:]

    @staticmethod
    def rows_of_sample(sample: Sample) -> tuple[int, ...]:
        """Rows of a sample's input, and of every layer's output, without rows of others."""
        return (sample.rows[-1],) * len(sample.rows) if sample.rows_here.shared else sample.rows

    @staticmethod
    def _with_others(sample: Sample) -> dict[Hashable, int]:
        """Rows that edges come from, and transposed ones, with rows of others."""
        return {("with others", transposed):
                sample.rows[-1] + sample.rows_here.halo_rows(transposed=transposed)
                for transposed in (False, True)}

    def _edges(self, sample: Sample) -> CompiledEdges:
        for known, edges in self._compiled:
            if known is sample:
                return edges
        key = (sample.number, sample.edge_exponent)
        edges = self._compile(sample) if sample.number is None else \
            self._kept.value_of(key, partial(self._compile, sample))
        self._compiled = [*self._compiled, (sample, edges)][-1 - self._ahead:]
        return edges

    def _compile(self, sample: Sample) -> CompiledEdges:
        matrices, compiled = sample.edges, self._known if sample is self._first else None
        if self._resident:
            matrices = self._records(sample).columns(matrices[0]), *matrices[1:]
            # Matrices of subgraphs are all the same one.
            compiled = compiled.with_first(matrices[0]) if compiled and not sample.square else None
        found = shared_edge_matrices(
            self._network, matrices[0], sample.rows_here.transpose(matrices[0]),
            sample.root_weight) if sample.rows_here.shared else edge_matrices(
            self._network, matrices, sample.root_weight, symmetric=not self.capacity,
            square=self._square and not self._resident)
        edges = CompiledEdges.of_list(
            matrices, of_layers(found, self._layers), self._config,
            strips=[level.strips for level in self.vertices], known=compiled)
        self._known = None
        return edges

    def _matrices(self, sample: Sample, following: Sample) -> Iterator[CompiledMatrix]:
        """The edge matrices of a step on a sample, if it works ahead for ``following``."""
        for edges, strips in self._edges(following).matrices if self._ahead else ():
            if _FIRST in edges.uses and not edges.root:
                yield CompiledMatrix(
                    edges._replace(name=f"{edges.name} of the next batch", uses=(_FIRST,)), strips)
        for edges, strips in self._edges(sample).matrices:
            uses = tuple(use for use in edges.uses
                         if edges.root or not self._ahead or use != _FIRST)
            if uses:
                yield CompiledMatrix(edges._replace(uses=uses), strips)

    def capacity_for(self, sample: Sample) -> Capacity:
        """``Capacity`` for a sample that is too large, too; it has to be the first one then.

        It is more than was there, so that samples that differ in kind cannot ask for it in turn
        forever.
        """
        assert self.capacity  # there is nothing to exceed otherwise
        own = Capacity.of([sample])
        edges = float((self.capacity.edges * edge_counts(self._first) / edge_counts(sample)).max())
        return Capacity(rows=tuple(map(max, self.capacity.rows, own.rows)),
                    edges=max(own.edges, (1 + SLACK) * edges),
                    square=self._square and own.square)

    @property
    def resident(self) -> bool:
        """Whether the whole graph's features stay in memory."""
        return self._resident

    @property
    def twice(self) -> bool:
        """Whether there are two places for what a batch brings: one for each of steps in turn.

        Features that a batch brings are too large for that.
        """
        return self._ahead and self._resident

    @property
    def feature_rows(self) -> int:
        """Rows of input features that the largest core holds."""
        if not self._resident:
            return self.vertices[0].rows
        assert self._first.origin
        vertices: int = self._first.origin.matrix.values.shape[0]
        return -(-vertices // self._config.cores)

    @property
    def shared_rows(self) -> int:
        """Rows that the largest core holds of a matrix, if others have some; else 0."""
        return max((one.rows for one in self.sources), default=0)

    def rows_of(self, entry: int) -> range:
        """Range of rows, of the largest core, that an entry of the row table is of."""
        return self._table.rows(entry)

    @property
    def row_entries(self) -> int:
        """Entries of the row table that a step has."""
        return len(self._table)

    def row_table(self, sample: Sample, following: Sample) -> list[list[int]]:
        """The row table of each core, for a step that may work ahead for ``following``.

        Raises
        ------
        CapacityError
            If a sample has too many rows.
        """
        most = tuple(level.count for level in self.vertices)
        for one in (sample, following):
            found = self._rows(one)
            if self._square and not one.square:
                raise CapacityError(f"a sample has {found} rows of input and layers, but all "
                                    f"layers have the same in the job; compile it with more "
                                    f"capacity")
            if any(count > limit for count, limit in zip(found, most, strict=True)):
                raise CapacityError(f"a sample has {found} rows of input and layers, but there "
                                    f"are {most} in the job at most; compile it with more capacity")
        rows: dict[Hashable, int] = dict(zip(self._levels, self._rows(sample), strict=True))
        rows.update(zip(self._next_levels, self._rows(following), strict=False))
        rows.update(self._sources)
        rows.update((key, named.sources) for key, named in self._named.items())
        return [self._table.counts(core, self._config.cores, rows)
                for core in range(self._config.cores)]

    def images(self, sample: Sample, following: Sample,
               regions: Mapping[str, Region]) -> list[Image]:
        """For each core, (region name, words) pairs of the edges, as ``row_table``.

        Parameters
        ----------
        sample, following : Sample
            What a step trains on, and works ahead for.
        regions : dict
            Where everything lies in that step.

        Raises
        ------
        CapacityError
            If a region is too small.
        """
        images: list[Image] = [[] for _ in range(self._config.cores)]
        for edges, strips in self._matrices(sample, following):
            for strip, plain in strips:
                lists, sets = (regions[name] for name in self._regions[edges.name, strip.first])
                messages = self._named.get((edges.name, strip.first), plain)
                send_lists = messages.send_lists
                if self._names_rows(edges):
                    send_lists = self._records(
                        following if self._ahead else sample).list_rows(send_lists)
                for core, image in enumerate(images):
                    words = relocate(messages.edge_sets[core], sets.address, self._config)
                    if len(words) > sets.words:
                        raise CapacityError(
                            f"{sets.name} takes {len(words)} words, but has {sets.words} in the "
                            f"job; compile it with more capacity")
                    image += [(lists.name, send_lists[core]), (sets.name, words)]
        return images
