# SPDX-License-Identifier: BSD-2-Clause
"""The messages of all that a step aggregates: a graph's, compiled once for whatever uses them.

Orders are chosen with them, and the program is made of the very same.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import scipy.sparse

from hypercast.errors import InputError
from hypercast.host.compiler.edge_matrices import (
    EdgeMatrix,
    edge_matrices,
    of_layers,
    select_matrices,
)
from hypercast.host.compiler.load import Load
from hypercast.host.compiler.messages import Messages, compile_messages
from hypercast.host.compiler.vertices import Strip, strips_of
from hypercast.reference.array_types import SparseArray
from hypercast.reference.network import Network
from hypercast.reference.step_graph import step_graph
from hypercast.rtl.config import Config

__all__ = ["CompiledEdges", "CompiledMatrix"]


class CompiledMatrix(NamedTuple):
    """A matrix, and what is sent to aggregate with it.

    Attributes
    ----------
    edges : EdgeMatrix
        The matrix.
    strips : tuple of (Strip, Messages)
        Strips of its rows, and the messages of each.
    """

    edges: EdgeMatrix
    strips: tuple[tuple[Strip, Messages], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class CompiledEdges:
    """The matrices of a step, compiled.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    edges : tuple of scipy.sparse.csr_array
        For each layer, (targets, sources) mantissas in rank order: what was compiled.
    matrices : tuple of CompiledMatrix
        Both ways, as far as layers use them.
    """

    config: Config
    edges: tuple[SparseArray, ...]
    matrices: tuple[CompiledMatrix, ...]

    @classmethod
    def of(cls, network: Network, edges: Sequence[SparseArray], root_weight: int, config: Config, *,
           strips: Sequence[Sequence[Strip]] | None = None, symmetric: bool = True,
           known: "CompiledEdges | None" = None, trained: bool = True,
           progress: Callable[[str], None] = lambda text: None) -> Self:
        """Compile what a network uses of some matrices.

        Parameters
        ----------
        network, edges, root_weight, symmetric, trained
            As of ``edge_matrices``.
        config : Config
            Configuration of the chip.
        strips : sequence of sequences of Strip, optional
            Strips of the input's rows, and of the rows of every layer's output, if there are to be
            more than these matrices have rows.
        known : CompiledEdges, optional
            What has been compiled of the same matrices; rows that are added are compiled anew.
        progress : callable
            Called with a line of text before each strip.
        """
        return cls.of_list(
            edges, edge_matrices(network, edges, root_weight, symmetric=symmetric,
                                 trained=trained),
            config, strips=strips, known=known, progress=progress)

    @classmethod
    def of_list(cls, edges: Sequence[SparseArray], matrices: Iterable[EdgeMatrix], config: Config,
                *, strips: Sequence[Sequence[Strip]] | None = None,
                known: "CompiledEdges | None" = None,
                progress: Callable[[str], None] = lambda text: None) -> Self:
        """Compile the matrices of a list, which ``edges`` lead to; the rest as of ``of``."""
        if known and not known.of_matrices(edges, config):
            raise InputError("edges were compiled for another sample or configuration")
        done = {(one.edges.name, strip.first): messages
                for one in (known.matrices if known else ()) if not one.edges.root
                for strip, messages in one.strips}
        found = []
        for one in matrices:
            parts = strips[one.result] if strips else strips_of(one.matrix.shape[0], config)
            compiled = []
            for number, strip in enumerate(parts, 1):
                progress(f"compiling messages of {one.name}, strip {number} of {len(parts)}")
                compiled.append((strip, done.get((one.name, strip.first)) or compile_messages(
                    one.matrix, config, first_row=strip.first, rows=strip.rows)))
            found.append(CompiledMatrix(one, tuple(compiled)))
        return cls(config=config, edges=tuple(edges), matrices=tuple(found))

    @classmethod
    def of_any_order(cls, network: Network, edges: Sequence[SparseArray], root_weight: int,
                     config: Config, *,
                     progress: Callable[[str], None] = lambda text: None) -> Self:
        """Compile what a network uses whatever the orders of its layers: see ``select``."""
        first = network.with_orders(layer.orders[0] for layer in network.layers)
        rows = {id(matrix): matrix if isinstance(matrix, scipy.sparse.csr_array)
                else scipy.sparse.csr_array(matrix) for matrix in edges}
        roots = root_weight if step_graph(network).adds_rows else 0
        return cls.of(first, [rows[id(matrix)] for matrix in edges], roots, config,
                      progress=progress)

    def of_matrices(self, edges: Sequence[SparseArray], config: Config) -> bool:
        """Whether these very matrices were compiled, for this configuration."""
        return self.config == config and len(self.edges) == len(edges) and all(
            one is other for one, other in zip(self.edges, edges, strict=True))

    def with_first(self, matrix: SparseArray) -> Self:
        """These edges with another matrix of layer 1; matrices of other layers stay compiled."""
        return replace(self, edges=(matrix, *self.edges[1:]), matrices=tuple(
            one for one in self.matrices if all(layer > 1 for layer, _ in one.edges.uses)))

    def of_layers(self, layers: range, *, trained: bool = True) -> Self:
        """The part that some layers (from 1) use, in a forward pass and, if trained, backward."""
        return replace(self, matrices=tuple(
            CompiledMatrix(edges, one.strips) for one in self.matrices
            for edges in of_layers([one.edges], layers, trained=trained)))

    def select(self, network: Network) -> Self:
        """The part that a network with other orders of its layers uses."""
        strips = {one.edges.name: one.strips for one in self.matrices}
        used = select_matrices(network, (one.edges for one in self.matrices))
        return replace(self, matrices=tuple(CompiledMatrix(one, strips[one.name]) for one in used))

    @property
    def vertices(self) -> tuple[int, ...]:
        """Vertices of the input, and of every layer's output."""
        return self.edges[0].shape[1], *(matrix.shape[0] for matrix in self.edges)

    def loads(self, layer: int, backward: bool) -> list[Load]:
        """A ``Load`` for each strip of rows of a layer's result, or of its input if ``backward``.

        Parameters
        ----------
        layer : int
            The layer, from 1.
        backward : bool
            Whether the transposed matrix is meant.
        """
        return self._loads(layer, backward, root=False)

    def root_loads(self, layer: int, backward: bool) -> list[Load]:
        """A ``Load`` for each strip of rows that are added to those sums."""
        return self._loads(layer, backward, root=True)

    def _loads(self, layer: int, backward: bool, *, root: bool) -> list[Load]:
        return next([messages.load for _, messages in one.strips] for one in self.matrices
                    if one.edges.root == root and (layer, backward) in one.edges.uses)
