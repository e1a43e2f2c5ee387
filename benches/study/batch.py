# SPDX-License-Identifier: BSD-2-Clause
"""Sampled batches: for each layer a block of edges from the vertices of the layer below."""

import itertools
from dataclasses import dataclass

from hypercast.errors import InputError

__all__ = ["SAMPLINGS", "Batch", "SampledLayer"]


@dataclass(frozen=True, kw_only=True)
class SampledLayer:
    """Edges of one layer, without loops.

    Parameters
    ----------
    sources, destinations : int
        Vertices whose rows are read, |B(l-1)|, and vertices whose rows are made, |B(l)|; these
        are among the sources.
    edges : int
        Edges from sources to destinations.
    """

    sources: int
    destinations: int
    edges: int

    @property
    def entries(self) -> int:
        """Entries of the aggregation matrix: edges, and a loop at each destination."""
        return self.edges + min(self.sources, self.destinations)


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The mini-batch of one training step.

    Parameters
    ----------
    blocks : tuple of SampledLayer
        One per layer, first to last; each one's destinations are the next one's sources.

    Raises
    ------
    InputError
        If the blocks do not fit each other.
    """

    blocks: tuple[SampledLayer, ...]

    def __post_init__(self) -> None:
        for number, (block, above) in enumerate(itertools.pairwise(self.blocks), 1):
            if block.destinations != above.sources:
                raise InputError(
                    f"layer {number} makes {block.destinations} rows, but layer {number + 1} reads "
                    f"{above.sources}; give both the same number of vertices")

    @property
    def vertices(self) -> tuple[int, ...]:
        """Vertices of the layers, from the inputs on: |B(0)|, |B(1)|, ..."""
        return (self.blocks[0].sources, *(block.destinations for block in self.blocks))


#: The batches of HP-GNN's script: 1,024 targets with fan-outs 10 and then 25, and subgraphs.
SAMPLINGS = {
    "neighbour": Batch(blocks=(
        SampledLayer(sources=102_483, destinations=9_000, edges=137_420),
        SampledLayer(sources=9_000, destinations=1_024, edges=8_505))),
    "subgraph": Batch(blocks=(
        SampledLayer(sources=2_750, destinations=2_750, edges=54_510),) * 2),
}
