# SPDX-License-Identifier: BSD-2-Clause
"""The planner's knowledge of the vertices and edges of a micro-batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from hypercast.errors import InputError
from hypercast.host.cycle_model.aggregations import degree_counts
from hypercast.reference.network import LINEAR, Network

__all__ = ["Part", "Statistics", "summed_edges"]


class Part(NamedTuple):
    """A part of a graph's vertices.

    Attributes
    ----------
    vertices : int
        How many it has.
    edges : int
        Entries of the adjacency matrix towards these.
    halo : int
        Vertices of other parts that these read.
    """

    vertices: int
    edges: int
    halo: int


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Numbers of vertices and edges, of a whole graph or of a sample.

    Parameters
    ----------
    vertices : tuple of int
        Vertices of the input, and of every layer's output.
    edges : tuple of int
        Entries of every layer's adjacency matrix: edges in both directions, and loops.
    sampled : bool
        Whether it is a sample; else all layers have the whole graph.
    law : str
        How edges are distributed over vertices, see ``Expected``.
    symmetric : bool
        Whether a matrix that all layers have is its own transpose, so that one serves both ways.
        Programs for samples never count on that.
    divisions : tuple of tuple of Part
        The parts for some numbers of boards, or of chunks: of a graph that was divided.
    cuts : tuple of (int, int, int)
        Numbers of boards, and how many vertices and entries of the adjacency matrix one of that
        many has of a vertex cut, at most: of a graph that was cut.

    Raises
    ------
    InputError
        If there are not as many numbers as a network has layers.
    """

    vertices: tuple[int, ...]
    edges: tuple[int, ...]
    sampled: bool = False
    law: str = "power"
    symmetric: bool = True
    divisions: tuple[tuple[Part, ...], ...] = ()
    cuts: tuple[tuple[int, int, int], ...] = ()

    def __post_init__(self) -> None:
        if len(self.vertices) != len(self.edges) + 1:
            raise InputError(f"a network of {len(self.edges)} layers has {len(self.edges) + 1} "
                             f"numbers of vertices, not {len(self.vertices)}")

    @classmethod
    def whole(cls, vertices: int, edges: int, layers: int,
              divisions: tuple[tuple[Part, ...], ...] = (),
              cuts: tuple[tuple[int, int, int], ...] = (), *, symmetric: bool = True) -> Self:
        """The statistics of a whole graph."""
        return cls(vertices=(vertices,) * (layers + 1), edges=(edges,) * layers,
                   symmetric=symmetric, divisions=divisions, cuts=cuts)

    @property
    def square(self) -> bool:
        """Whether all layers have the same vertices and edges."""
        return len({*self.vertices}) == len({*self.edges}) == 1

    def part(self, count: float) -> Self:
        """The statistics of one board's part of a whole graph, which ``count`` such boards share.
        """
        return type(self)(
            vertices=tuple(max(1, round(one / count)) for one in self.vertices),
            edges=tuple(max(1, round(one / count)) for one in self.edges),
            sampled=self.sampled, law=self.law, symmetric=self.symmetric)

    def parts(self, count: int) -> list[Self]:
        """The statistics of each of so many parts: known ones, or the same one for all."""
        known: tuple[Part, ...] = self._division(count)
        return [type(self)(vertices=(one.vertices,) * len(self.vertices),
                           edges=(max(1, one.edges),) * len(self.edges), law=self.law,
                           symmetric=self.symmetric)
                for one in known] or [self.part(count)]

    def largest(self, count: int) -> Self:
        """Statistics that none of so many parts exceeds."""
        parts = self.parts(count)
        vertices, edges = (tuple(map(max, zip(*numbers, strict=True))) for numbers in (
            [part.vertices for part in parts], [part.edges for part in parts]))
        return type(self)(vertices=vertices, edges=edges, sampled=self.sampled, law=self.law,
                          symmetric=self.symmetric)

    def _division(self, count: int) -> tuple[Part, ...]:
        return next((parts for parts in self.divisions if len(parts) == count), ())

    def halos(self, count: int) -> list[int]:
        """Vertices of others that each of so many parts reads; one number if it stands for all."""
        return [part.halo for part in self._division(count)] or [self.halo(count)]

    def halo(self, count: int) -> int:
        """Vertices of others that one of ``count`` parts reads, at most.

        Where that is not known, vertices are taken to be dealt to parts at random. Then a vertex is
        read by a part if one of its edges leads there.
        """
        if known := self._division(count):
            return max(part.halo for part in known)
        degrees, counts = degree_counts(self.vertices[0], self.edges[0], self.law)
        read = 1 - (1 - 1 / count) ** degrees.astype(float)
        return round(float(counts @ read) * (count - 1) / count)

    def cut(self, count: int) -> tuple[int, int]:
        """Vertices, and entries of the adjacency matrix, of one of ``count`` parts of a vertex cut.

        Where that is not known, they are expected ones.
        """
        for known, vertices, edges in self.cuts:
            if known == count:
                return vertices, edges
        vertices = self.replicas(count)
        # Each copy of a vertex has a loop of its own.
        return vertices, max(1, (self.edges[0] - self.vertices[0]) // count + vertices)

    def replicas(self, count: int) -> int:
        """Vertices that a part has an edge of, if edges are dealt by degree-based hashing.

        An edge goes where its end of the lower degree is hashed to (Xie et al., Distributed
        Power-law Graph Computing: Theoretical and Empirical Analysis, 2014). So a vertex of few
        edges, most of whose neighbours have more, is mostly in one part.
        """
        degrees, counts = degree_counts(self.vertices[0], self.edges[0], self.law)
        # A vertex's neighbours are met in proportion to their degrees. Lower neighbours hash the
        # edge elsewhere.
        ends = np.cumsum(degrees * counts) / max(1, int(degrees @ counts))
        lower = np.concatenate([[0.0], ends[:-1]])
        elsewhere = 1 - (1 - 1 / count) ** (degrees * lower)
        expected = 1 / count + (1 - 1 / count) * elsewhere
        return min(self.vertices[0], round(float(counts @ expected)))


def summed_edges(network: Network, edges: Sequence[int]) -> list[int]:
    """Entries of the matrices that layers sum with, from the entries of all layers' matrices.

    A linear layer sums nothing. It is given as many as the layer that has most, so that layers
    without differences are alike.
    """
    return [max(edges) if layer.order == LINEAR else count
            for layer, count in zip(network.layers, edges, strict=True)]
