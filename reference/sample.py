# SPDX-License-Identifier: BSD-2-Clause
"""Edges, features and labels of a training step, in integers: a whole graph, or a sample of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.errors import InputError
from hypercast.reference.arithmetic import rounded_shift
from hypercast.reference.array_types import (
    BoolArray,
    FloatMatrix,
    IntArray,
    IntMatrix,
    SparseArray,
)
from hypercast.reference.edge_weights import EdgeWeights, edge_counts, quantized_edge_weights
from hypercast.reference.labels import (
    checked_labels,
    checked_loss_weights,
    quantized_loss_weights,
)
from hypercast.reference.network import LINEAR, Network
from hypercast.reference.quantization import quantize, without_common_factor
from hypercast.reference.recipe import Recipe
from hypercast.reference.rows import AllRows
from hypercast.reference.step_graph import step_graph
from hypercast.rtl.isa import MINIMUM_EXPONENT, Split

__all__ = ["GraphRows", "Mantissas", "Sample"]


class Mantissas(NamedTuple):
    """Integers that stand for themselves times ``2**exponent``.

    Attributes
    ----------
    values : array or scipy.sparse array of int64
        The integers.
    exponent : int
        Exponent of the integers.
    """

    values: IntMatrix
    exponent: int

    @classmethod
    def of_features(cls, matrix: FloatMatrix, width: int) -> Self:
        """Input features, rounded to ``width`` bits.

        Smaller mantissas have smaller sums: fewer digits of them are sent.
        """
        return cls(*without_common_factor(*quantize(matrix, width)))


@dataclass(frozen=True, eq=False)
class GraphRows:
    """Some rows of a whole graph's features.

    Parameters
    ----------
    matrix : Mantissas
        Features of the whole graph.
    rows : (rows,) array of int64
        Which rows, in order; each at most once.
    """

    matrix: Mantissas
    rows: IntArray

    @cached_property
    def values(self) -> IntMatrix:
        """The rows alone, when they are asked for first: a holder of all rows does not ask."""
        return self.matrix.values[self.rows]

    @property
    def exponent(self) -> int:
        """Exponent of the integers."""
        return self.matrix.exponent


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Edges, features and labels of a step.

    Row ``k`` of every matrix is the vertex of rank ``k``; the vertices of a layer's output come
    first among the vertices of its input.

    Parameters
    ----------
    edges : tuple of scipy.sparse.csr_array of int64
        For each layer, (rows of its output, rows of its input): mantissas of edge weights. A
        mantissa that is too large for an element is sent as several edges.
    edge_exponent : int
        Exponent of the edge weights.
    edge_error : float
        Mean relative rounding error of edge weights (``edge_weights.rounding_error``).
    root_weight : int
        Mantissa of 1 as an edge weight, with which rows are added to sums over neighbours. If it is
        too large for an element, it is sent as several edges. 0 if no rows are added.
    element_width : int
        Bits of an element.
    features : Mantissas or GraphRows
        Features of the input's vertices.
    labels : (T,) array of int64, or (T, C) array of bool
        Classes of the last layer's vertices, -1 where there is none; or which a vertex has.
    splits : (T,) array of int64
        ``Split`` of each of them.
    loss_weights : (T,) array of int64
        Mantissas of the loss weights, see ``quantized_loss_weights``.
    loss_unit : float
        The weight that ``LOSS_WEIGHT_ONE`` stands for.
    rows_here : AllRows
        Which rows these are, where several processes share a sample.
    number : int or None
        Which of a finite pool of samples it is. Samples with the same number and exponent of edge
        weights have the same edges.
    """

    edges: tuple[SparseArray, ...]
    edge_exponent: int
    edge_error: float
    root_weight: int
    element_width: int
    features: Mantissas | GraphRows
    labels: IntArray | BoolArray
    splits: IntArray
    loss_weights: IntArray
    loss_unit: float
    rows_here: AllRows = field(default_factory=AllRows)
    number: int | None = None

    @classmethod
    def of(cls, network: Network, recipe: Recipe, adjacency: SparseArray | Sequence[SparseArray],
           features: FloatMatrix | Mantissas | GraphRows, labels: npt.ArrayLike,
           splits: npt.ArrayLike, loss_weights: npt.ArrayLike | None = None,
           loss_unit: float | None = None, number: int | None = None) -> Self:
        """Round real matrices.

        Parameters
        ----------
        network : Network
            What is trained.
        recipe : Recipe
            Gives the bits of a mantissa, and the loss.
        adjacency : scipy.sparse array, or a sequence of them
            Edge weights, row i holding the edges towards vertex i: of all layers, or of each.
            Matrices of single layers may have fewer rows than columns.
        features : array, scipy.sparse array, Mantissas or GraphRows
            Rows of the input.
        labels : (T,) array of int, or (T, C) array of bool
            As the recipe's loss takes them.
        splits : (T,) array of int
            Splits of the last layer's vertices, like labels.
        loss_weights : (T,) array of float, optional
            Factor of each vertex's loss and its gradient; 1 if not given. The mean over the
            training vertices is minimised, whatever the weights sum up to.
        loss_unit : float, optional
            The weight that ``LOSS_WEIGHT_ONE`` is to stand for, a power of two; by default, the
            least that is large enough for the largest weight.
        number : int, optional
            Which of a finite pool of samples it is.

        Raises
        ------
        InputError
            If they do not fit each other or the network.
        """
        layers = len(network.layers)
        matrices = list(adjacency) if isinstance(adjacency, Sequence) else [adjacency] * layers
        if not isinstance(features, (Mantissas, GraphRows)):
            features = Mantissas.of_features(features, recipe.element_width)
        labels = checked_labels(labels, recipe.loss, network.classes)
        splits = np.asarray(splits, dtype=np.int64)
        stored = (features.values.shape if isinstance(features, Mantissas) else
                  (len(features.rows), features.matrix.values.shape[1]))
        shapes = [("features", stored, (matrices[0].shape[1], network.features)),
                  ("splits", splits.shape, (len(labels),))]
        if not isinstance(adjacency, Sequence):
            shapes.insert(0, ("adjacency", adjacency.shape, (len(labels), len(labels))))
        for name, shape, expected in shapes:
            if shape != expected:
                raise InputError(f"{name} must have shape {expected}, not {shape}")
        _check(network, matrices, labels, splits)
        edges, rounded, root_weight = _quantized_edges(network, recipe.element_width, matrices)
        weights, unit = quantized_loss_weights(
            checked_loss_weights(loss_weights, len(labels)), loss_unit)
        return cls(edges=edges, edge_exponent=rounded.exponent, edge_error=rounded.error,
                   root_weight=root_weight, element_width=recipe.element_width,
                   features=features, labels=labels, splits=splits, loss_weights=weights,
                   loss_unit=unit, number=number)

    @property
    def origin(self) -> GraphRows | None:
        """Which rows of a whole graph the features are, if they are of one."""
        return self.features if isinstance(self.features, GraphRows) else None

    @property
    def loss_scale(self) -> float:
        """Loss of one unit of weight, divided by the number of labels of a vertex."""
        return self.loss_unit / (self.labels.shape[1] if self.labels.ndim == 2 else 1)

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows of the input, and of every layer's output."""
        return (self.edges[0].shape[1], *(matrix.shape[0] for matrix in self.edges))

    @property
    def training_vertices(self) -> int:
        """Vertices to train on, wherever they are."""
        return self.rows_here.count_trained(int(np.count_nonzero(self.splits == Split.TRAIN)))

    def with_edge_exponent(self, exponent: int) -> Self:
        """This sample with another exponent of its edge weights, no lower than theirs.

        Weights are rounded to it, half to even. Samples of one step have the largest exponent
        of all of them.
        """
        shift = exponent - self.edge_exponent
        if not shift:
            return self
        rounded = {id(matrix): scipy.sparse.csr_array(
            (rounded_shift(matrix.data, shift), matrix.indices, matrix.indptr), shape=matrix.shape)
            for matrix in self.edges}
        return replace(self, edges=tuple(rounded[id(matrix)] for matrix in self.edges),
                       edge_exponent=exponent, root_weight=self.root_weight >> shift)

    def sent_edges(self, matrix: SparseArray) -> int:
        """How many edges one of the matrices is sent as."""
        return int(edge_counts(matrix.data, self.element_width).sum())

    @property
    def sent_roots(self) -> int:
        """How many edges the rows that are added are sent as, if all rows of the input are."""
        return int(edge_counts(self.root_weight, self.element_width)) * self.rows[0]

    @property
    def square(self) -> bool:
        """Whether all layers have the same vertices."""
        return len(set(self.rows)) == 1


def _check(network: Network, matrices: Sequence[SparseArray], labels: IntArray | BoolArray,
           splits: IntArray) -> None:
    if len(matrices) != len(network.layers):
        raise InputError(f"there must be {len(network.layers)} matrices of edges, one for each "
                         f"layer, not {len(matrices)}")
    sources = matrices[0].shape[1]
    for number, matrix in enumerate(matrices, 1):
        targets = matrix.shape[0] if number < len(matrices) else len(labels)
        if network.layers[number - 1].order == LINEAR:
            targets = sources
        if matrix.shape != (targets, sources) or targets > sources:
            raise InputError(f"adjacency of layer {number} must have shape "
                             f"{(min(targets, sources), sources)}, not {matrix.shape}")
        sources = targets
    if network.shares_exponents and len(labels) < matrices[0].shape[1]:
        what = "jumping knowledge takes outputs of several layers side by side" \
            if network.jumping else "an initial residual adds the first layer's outputs in others"
        raise InputError(f"{what}: all layers must have the same vertices; sample subgraphs "
                         f"instead")
    if not np.any(splits == Split.TRAIN):
        raise InputError("there is no vertex to train on: none is in Split.TRAIN")


def _quantized_edges(
        network: Network, width: int,
        matrices: Sequence[SparseArray]) -> tuple[tuple[SparseArray, ...], EdgeWeights, int]:
    """CSR arrays of mantissas, their ``EdgeWeights``, and the mantissa of 1 for rows that are
    added."""
    distinct = {id(matrix): scipy.sparse.csr_array(matrix) for matrix in matrices}
    for matrix in distinct.values():
        matrix.sort_indices()
    weights = np.concatenate([matrix.data for matrix in distinct.values()])
    # Different rows of different matrices.
    degrees = np.concatenate([np.diff(matrix.indptr) for matrix in distinct.values()])
    rows = np.repeat(np.arange(len(degrees), dtype=np.int32), degrees)
    adds_rows = step_graph(network).adds_rows
    rounded = quantized_edge_weights(
        weights, rows, width, least=2 - width if adds_rows else MINIMUM_EXPONENT,
        loops=max(matrix.shape[0] for matrix in matrices) if adds_rows else 0)
    if adds_rows and rounded.exponent > 0:
        raise InputError(f"edge weights reach {abs(weights).max()}, but where rows are added to "
                         f"sums over neighbours they must be below {1 << width - 1}; scale them "
                         f"down")
    ends = np.cumsum([matrix.nnz for matrix in distinct.values()])[:-1]
    arrays = {key: scipy.sparse.csr_array((values, matrix.indices, matrix.indptr),
                                           shape=matrix.shape)
               for (key, matrix), values in zip(distinct.items(), np.split(rounded.mantissas, ends),
                                                strict=True)}
    return (tuple(arrays[id(matrix)] for matrix in matrices), rounded,
            1 << -rounded.exponent if adds_rows else 0)
