"""What the aggregations of a training step are expected to load, from a graph's statistics."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import scipy.sparse

from hypercast.host.compiler.load import Load
from hypercast.host.compiler.messages import compile_messages
from hypercast.host.compiler.vertices import Strip, strips_of
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config
from hypercast.rtl.network.routing import dimension_order

__all__ = ["DEGREE_LAWS", "Expected"]

#: Shapes of the degree distribution that statistics can name.
DEGREE_LAWS = ("uniform", "power")
#: Exponent of the degree over the rank in law "power", as of scale-free networks with gamma = 3
#: (Barabasi and Albert, Emergence of Scaling in Random Networks, 1999).
_POWER = -0.5


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
        sources, targets = self.vertices[layer - 1:layer + 1]
        if backward:
            sources, targets = targets, sources
        entries = _entries(sources, self._edges[layer - 1], self._law)
        # The rows of a square matrix have the same law, and low ranks come first.
        law = self._law if sources == targets else "uniform"
        return [self._expect(entries, _share(targets, strip, law, self._config.cores))
                for strip in strips_of(targets, self._config)]

    def root_loads(self, layer: int, backward: bool) -> list[Load]:
        """Loads of rows that are added to those sums: each stays in its core."""
        sources, targets = self.vertices[layer - 1:layer + 1]
        return _identity_loads(*(sources, targets) if backward else (targets, sources),
                               self._config)

    def _expect(self, entries: IntArray, share: float) -> Load:
        """The load of a strip that gets a share of the entries."""
        config, cores = self._config, self._config.cores

        def reached(part: float) -> float:
            """Messages with an entry in a part of the cores."""
            return float(-np.expm1(entries * np.log1p(-min(part * share, 1 - 1e-12))).sum())

        messages = round(reached(1))
        rows = len(entries)
        edges = round(entries.sum() * share)
        # Whatever the order of dimensions, step s of a multicast has 2**s links, and 2**-(s + 1)
        # of the cores lie beyond each. The orders that the planes have share the messages.
        steps = [2**step * reached(0.5 ** (step + 1)) for step in range(config.dimensions)]
        flits = np.zeros(config.dimensions)
        orders = min(config.planes, config.dimensions)
        for plane in range(orders):
            flits[list(dimension_order(plane, config.dimensions))] += steps
        words = edges / config.chunks + cores * config.streams / 2  # a stream's last is half full
        return Load(
            rows=-(-rows // cores), sent=-(-messages // cores),
            links=round(flits.max(initial=0) / max(orders, 1) / cores),
            ejected=_busiest(cores * reached(1 / cores) / cores / config.eject),
            arrivals=_busiest(edges / cores / config.eject), words=round(words / cores),
            total_rows=rows, messages=messages, edges=edges, total_words=round(words))


@lru_cache(maxsize=16)
def _identity_loads(targets: int, sources: int, config: Config) -> list[Load]:
    """Loads of the first of ``sources`` vertices' rows."""
    identity = scipy.sparse.eye_array(targets, sources, dtype=np.int64, format="csr")
    return [compile_messages(identity, config, first_row=strip.first, rows=strip.rows).load
            for strip in strips_of(targets, config)]


def _busiest(mean: float) -> int:
    """What the busiest of some tens has of independent events: two standard deviations more."""
    deviation: float = mean**0.5
    return round(mean + 2 * deviation)


@lru_cache(maxsize=8)
def _entries(sources: int, edges: int, law: str) -> IntArray:
    """Entries of each source: (sources,) array of int."""
    each = 1 if edges >= sources else 0
    sums = np.cumsum(np.arange(1, sources + 1) ** (_POWER if law == "power" else 0.0))
    more = np.rint(sums * ((edges - each * sources) / sums[-1])).astype(np.int64)
    entries: IntArray = each + np.diff(more, prepend=0)
    return entries


def _share(vertices: int, strip: Strip, law: str, cores: int) -> float:
    """Share of the edges that lead to a strip."""
    ranks = np.minimum(np.array([strip.first, strip.first + strip.rows]) * cores, vertices)
    power = 1 + (_POWER if law == "power" else 0)
    return float(np.diff(ranks ** power)[0] / vertices ** power)
