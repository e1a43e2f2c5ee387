# SPDX-License-Identifier: BSD-2-Clause
"""The expected loads of a training step's aggregations, from a graph's statistics."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import scipy.sparse

from hypercast.host.compiler.load import Load
from hypercast.host.compiler.messages import compile_messages
from hypercast.host.compiler.vertices import Strip, strips_of
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config
from hypercast.rtl.network.routing import dimension_order
from hypercast.rtl.placement import SPREAD

__all__ = ["DEGREE_LAWS", "Expected", "Thinned", "degree_counts"]

#: Shapes of the degree distribution that statistics can name.
DEGREE_LAWS = ("uniform", "power")
#: Exponent of the degree over the rank in law "power", as of scale-free networks with gamma = 3
#: (Barabasi and Albert, Emergence of Scaling in Random Networks, 1999).
_POWER = -0.5
#: Sources whose entries are counted one by one; of more, each of these stands for several.
_COUNTED = 1 << 20


class Expected:
    """Loads of edges that are drawn at random, by expected values.

    A vertex that is read has an edge, or it would not be there; the others leave the vertices by a
    law of degrees. An edge leads to any core with the same probability.

    Parameters
    ----------
    vertices : sequence of int
        Vertices of the input, and of every layer's output.
    edges : sequence of int
        Entries of every layer's adjacency matrix: edges in both directions, and loops.
    config : Config
        Configuration of the chip.
    law : str
        One of ``DEGREE_LAWS``.
    """

    def __init__(self, vertices: Sequence[int], edges: Sequence[int], config: Config,
                 law: str = "power") -> None:
        self.vertices = tuple(vertices)
        self._edges = edges
        self._config = config
        self._law = law

    def loads(self, layer: int, backward: bool) -> list[Load]:
        """Expected loads, in the form of ``CompiledEdges.loads``."""
        sources, targets = self._ends(layer, backward)
        entries = degree_counts(sources, self._edges[layer - 1], self._law)
        # The rows of a square matrix have the same law, and low ranks come first, unless there
        # are many (``rank_order``).
        law = self._law if sources == targets < SPREAD else "uniform"
        return [self._expect(entries, _share(targets, strip, law, self._config.cores))
                for strip in strips_of(targets, self._config)]

    def root_loads(self, layer: int, backward: bool) -> list[Load]:
        """Loads of rows that are added to those sums: each stays in its core."""
        sources, targets = self._ends(layer, backward)
        return _identity_loads(targets, sources, self._config)

    def _ends(self, layer: int, backward: bool) -> tuple[int, int]:
        """Vertices that are read, and that get sums."""
        sources, targets = self.vertices[layer - 1:layer + 1]
        return (targets, sources) if backward else (sources, targets)

    def _expect(self, entries: tuple[IntArray, IntArray], share: float) -> Load:
        """The load of a strip that gets a share of the entries."""
        config, cores = self._config, self._config.cores
        values, counts = entries

        def reached(part: float) -> float:
            """Messages with an entry in a part of the cores."""
            none = np.exp(values * np.log1p(-min(part * share, 1 - 1e-12)))
            return float(counts @ (1 - none))

        messages = round(reached(1))
        rows = int(counts.sum())
        edges = round(int(values @ counts) * share)
        # Whatever the order of dimensions, step s of a multicast has 2**s links, and 2**-(s + 1)
        # of the cores lie beyond each. The orders that the planes have share the messages.
        steps = [2**step * reached(0.5 ** (step + 1)) for step in range(config.dimensions)]
        flits = np.zeros(config.dimensions)
        orders = min(config.planes, config.dimensions)
        for plane in range(orders):
            flits[list(dimension_order(plane, config.dimensions))] += steps
        streams = -config.streams * np.expm1(-edges / cores / config.streams)
        words = edges / config.chunks + cores * streams / 2  # a stream's last is half full
        return Load(
            rows=-(-rows // cores), sent=-(-messages // cores),
            links=round(flits.max(initial=0) / max(orders, 1) / cores),
            ejected=_busiest(cores * reached(1 / cores) / cores / config.eject),
            arrivals=_busiest(edges / cores / config.eject), words=round(words / cores),
            streams=round(streams), total_rows=rows, messages=messages, edges=edges,
            total_words=round(words))


class Thinned(Expected):
    """A few strips of rows that stand for the many of a large graph.

    Parameters
    ----------
    vertices : int
        Vertices of the graph, which all layers have in common.
    edges : int
        Entries of its adjacency matrix, loops included.
    layers : int
        Layers.
    config : Config
        Configuration of the chip.
    law : str
        One of ``DEGREE_LAWS``.
    strips : float
        How many strips at most, the last one perhaps a part.

    Attributes
    ----------
    factor : float
        What the cycles of these strips are to be multiplied by.
    whole : tuple of int
        Vertices of the graph, of the input and of every layer's output.
    """

    def __init__(self, vertices: int, edges: int, layers: int, config: Config, *,
                 law: str = "power", strips: float = 6) -> None:
        super().__init__([vertices] * (layers + 1), [edges] * layers, config, law)
        self.whole, self._entries = (vertices,) * (layers + 1), edges
        self.factor = max(1.0, len(strips_of(vertices, config)) / strips)
        self.vertices = (round(vertices / self.factor),) * (layers + 1)

    def loads(self, layer: int, backward: bool) -> list[Load]:
        """Expected loads of strips, each with the mean of some neighbouring ones' edges."""
        whole = self.whole[0]
        entries = degree_counts(whole, self._entries, self._law)
        every, kept = (strips_of(count, self._config) for count in (whole, self.vertices[0]))
        law = self._law if whole < SPREAD else "uniform"
        shares = [_share(whole, strip, law, self._config.cores) for strip in every]
        return [self._expect(entries, float(np.mean(part)))
                for part in np.array_split(shares, len(kept))]

    def root_loads(self, layer: int, backward: bool) -> list[Load]:
        """Loads of rows that are added to those sums; each strip's AGGREGATE walks all rows."""
        whole = self.whole[0]
        return [replace(load, rows=-(-whole // self._config.cores), total_rows=whole)
                for load in super().root_loads(layer, backward)]


@lru_cache(maxsize=16)
def _identity_loads(targets: int, sources: int, config: Config) -> list[Load]:
    """Loads of the first of ``sources`` vertices' rows."""
    identity = scipy.sparse.eye_array(targets, sources, dtype=np.int64, format="csr")
    return [compile_messages(identity, config, first_row=strip.first, rows=strip.rows).load
            for strip in strips_of(targets, config)]


def _busiest(mean: float) -> int:
    """Independent events at the busiest of some tens: two standard deviations above the mean."""
    deviation: float = mean**0.5
    return round(mean + 2 * deviation)


@lru_cache(maxsize=8)
def degree_counts(sources: int, edges: int, law: str) -> tuple[IntArray, IntArray]:
    """Different numbers of entries that sources have, and how many sources have each.

    Of very many sources, every so many are alike: the law is of their relative ranks.

    Parameters
    ----------
    sources : int
        Sources.
    edges : int
        Entries of all.
    law : str
        One of ``DEGREE_LAWS``.
    """
    if sources > _COUNTED:
        values, counts = degree_counts(_COUNTED, round(edges * _COUNTED / sources), law)
        # Sources of fewer entries come last.
        ends = np.rint(np.cumsum(counts[::-1]) * (sources / _COUNTED)).astype(np.int64)
        return values, np.diff(ends, prepend=0)[::-1]
    each = 1 if edges >= sources else 0
    sums = np.cumsum(np.arange(1, sources + 1) ** (_POWER if law == "power" else 0.0))
    more = np.rint(sums * ((edges - each * sources) / sums[-1])).astype(np.int64)
    return np.unique(each + np.diff(more, prepend=0), return_counts=True)


def _share(vertices: int, strip: Strip, law: str, cores: int) -> float:
    """Share of the edges that lead to a strip."""
    ranks = np.minimum(np.array([strip.first, strip.first + strip.rows]) * cores, vertices)
    power = 1 + (_POWER if law == "power" else 0)
    return float(np.diff(ranks ** power)[0] / vertices ** power)
