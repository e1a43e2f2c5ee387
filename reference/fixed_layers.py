# SPDX-License-Identifier: BSD-2-Clause
"""Carries out the nodes of a step graph, in integers or in real numbers."""

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.reference.arithmetic import bit_length
from hypercast.reference.array_types import BoolArray, SparseArray
from hypercast.reference.dropout import Dropout
from hypercast.reference.edge_kernels import add_neighbours
from hypercast.reference.float_product import float_product
from hypercast.reference.mantissa_file import MANTISSA
from hypercast.reference.row_blocks import row_blocks
from hypercast.reference.rows import AllRows
from hypercast.reference.step_graph import Node, Op, ParameterGradient, Term
from hypercast.reference.tensor import EDGES, Kind, Tensor

__all__ = ["Edges", "FixedLayers", "Gradient", "Tensors"]

_ALL_ROWS = AllRows()
#: Elements of tensors: integers, or the real numbers that they stand for.
Number = TypeVar("Number", np.int64, np.float64)


class Edges(Protocol):
    """Edges of a ``Sample``, as layers read them."""

    @property
    def edges(self) -> Sequence[SparseArray]: ...

    @property
    def root_weight(self) -> int: ...


class Tensors(Protocol[Number]):
    """The operations of ``FixedTensors`` that layers use; see there."""

    stored: dict[Tensor, npt.NDArray[Any] | SparseArray]

    def base(self, *factors: Tensor) -> int: ...

    def bias(self, name: Tensor, base: int) -> npt.NDArray[Number]: ...

    def store(self, name: Tensor, sums: npt.NDArray[Number], base: int,
              dropout: Dropout | None = None) -> None: ...


class Gradient(NamedTuple, Generic[Number]):
    """A parameter's accumulated gradient, ``left.T @ right``.

    Attributes
    ----------
    left, right : array or scipy.sparse array
        Mantissas, a row per vertex.
    accumulators : numpy.ndarray
        The operands' product.
    exponent : int
        Exponent of the accumulators.
    """

    left: npt.NDArray[Number] | SparseArray
    right: npt.NDArray[Number]
    accumulators: npt.NDArray[Number]
    exponent: int

    @property
    def reach(self) -> int:
        """Every accumulator would be below ``2**reach`` even if no two terms cancelled."""
        reach = np.zeros_like(self.accumulators)
        for some in row_blocks(self.right.shape):
            left, right = (abs(matrix[some].astype(np.int64)) for matrix in (self.left, self.right))
            reach += _product(left.T, right)
        return self.exponent + bit_length(reach)


def _product(a: npt.NDArray[Number] | SparseArray,
             b: npt.NDArray[Number] | SparseArray) -> npt.NDArray[Number]:
    """Exact product of matrices of elements of at most 16 bits; edge weights may have more.

    A dense product uses the fast BLAS, as a float64 holds the sum of ``2**22`` products: they add
    up to ``2**52`` at most. No more terms are added at a time. ``check_accumulators`` has proved
    that the terms of sums over edges add up to less.
    """
    number = np.result_type(a, b, np.int64)
    if isinstance(a, scipy.sparse.csr_array) and b.dtype.kind == "i" and not \
            scipy.sparse.issparse(b):
        assert bit_length(b) < 8 * MANTISSA.itemsize, "rows have wider mantissas"
        sums = np.empty((a.shape[0], b.shape[1]), dtype=number)
        add_neighbours(a.indptr.astype(np.int64), a.indices.astype(np.int32, copy=False), a.data,
                       np.ascontiguousarray(b, dtype=MANTISSA), sums)
        return sums
    if isinstance(a, scipy.sparse.csr_array | scipy.sparse.csc_array):
        return np.asarray((a @ b).todense() if scipy.sparse.issparse(b) else
                          a @ b.astype(number, copy=False))
    total = np.zeros((*a.shape[:-1], b.shape[-1]), dtype=number)
    if a.shape[0] > a.shape[-1]:
        factor = b.astype(np.float64)
        for some in row_blocks(a.shape):
            total[some] = float_product(a[some].astype(np.float64), factor)
    else:
        for some in row_blocks(a.T.shape):
            total += float_product(a[..., some].astype(np.float64),
                                   b[some].astype(np.float64)).astype(number)
    return total


class FixedLayers(Generic[Number]):
    """Computes the tensors that the nodes of a step graph store.

    Parameters
    ----------
    file : Tensors
        Holds X, the weights, and everything made of them.

    Attributes
    ----------
    masks : dict
        Where features of the last training step were positive and kept, by the mask's name.
    """

    def __init__(self, file: Tensors[Number]) -> None:
        self._file: Tensors[Number] = file
        self._tensors: dict[Tensor, npt.NDArray[Any] | SparseArray] = file.stored
        self.masks: dict[Tensor, BoolArray] = {}
        # Input features as the last training step dropped them.
        self._dropped: npt.NDArray[Any] | SparseArray | None = None

    def take(self, sample: Edges, rows_here: AllRows = _ALL_ROWS) -> None:
        """Use the edges of another ``Sample``, and its ``rows_here``."""
        self._rows_here = rows_here
        forward, transposed = ({id(edges): made(edges) for edges in sample.edges}
                               for made in (rows_here.forward, rows_here.transpose))
        self._root_weight = sample.root_weight
        self._edges = {
            (direction, number): matrix
            for direction, found in ((False, forward), (True, transposed))
            for matrices in [[found[id(edges)] for edges in sample.edges]]
            for number, matrix in enumerate(matrices, 1)}

    def run(self, nodes: Sequence[Node], step_key: int | None = None) -> None:
        """Compute nodes one after another, and store their results.

        Parameters
        ----------
        nodes : sequence of Node
            What their terms read is there.
        step_key : int, optional
            Step key of a training step, for dropout.
        """
        dropped: Dropout | None = None
        for node in nodes:
            for term in node.terms:
                if term.dropout and term.dropout != dropped:
                    assert step_key is not None, f"{node.result} needs a step key"
                    dropped = term.dropout
                    self._dropped = dropped.apply(
                        self._tensors[term.rows], step_key, self._rows_here.ranks)
            base, sums = self._sum(node)
            if node.bias:
                sums += self._file.bias(
                    node.bias, base + (node.scale.exponent if node.scale else 0))
            if node.relu or node.mask_read:
                sums *= self._mask(node, sums, step_key)
            self._file.store(node.result, sums, base, node.scale)

    def gradient(self, gradient: ParameterGradient) -> Gradient[Number]:
        """The gradient of a parameter, if its factors are there."""
        right = self._tensors[gradient.right]
        left = (np.ones(len(right), dtype=np.int64) if gradient.left.kind == Kind.ONE
                else self._rows(gradient.left, gradient.dropout))
        left = left[:len(right)]  # the result may have fewer rows than the addends
        return Gradient(left, right, _product(left.T, right), self._file.base(*gradient.factors))

    def _sum(self, node: Node) -> tuple[int, npt.NDArray[Number]]:
        """Exponent and accumulators of a node's terms."""
        first, *others = node.terms
        sums = self._term(first, node)
        for term in others:
            more = self._term(term, node)[:len(sums)]
            sums[:len(more)] += more
        return self._file.base(
            *((first.rows, first.weights) if first.weights else (EDGES, first.rows))), sums

    def _term(self, term: Term, node: Node) -> npt.NDArray[Number]:
        """Accumulators of a term alone."""
        rows = self._rows(term.rows, term.dropout)
        if term.op == Op.ADD:
            return rows.astype(np.result_type(rows, np.int64)) * self._root_weight
        if term.op == Op.AGGREGATE:
            return _product(
                self._edges[node.backward, node.layer], self._rows_here.with_neighbours(
                    rows, transposed=node.backward, name=term.rows,
                    exponent=self._file.base(term.rows)))
        assert term.weights, f"{term.rows} is multiplied by nothing"
        weights = self._tensors[term.weights]
        return _product(rows, weights.T if node.backward else weights)

    def _rows(self, name: Tensor, dropout: Dropout | None) -> npt.NDArray[Number] | SparseArray:
        """A matrix, or the input features as they were dropped."""
        if dropout is None:
            return self._tensors[name]
        assert self._dropped is not None, f"{name} has not been dropped"
        return self._dropped

    def _mask(self, node: Node, sums: npt.NDArray[Number], step_key: int | None) -> BoolArray:
        """Elements of a result that are kept; the others become zero."""
        if node.mask_read:
            return self.masks[node.mask_read]
        mask = sums > 0
        if node.dropout and step_key is not None:
            mask = node.dropout.apply(mask, step_key, self._rows_here.ranks)
        if node.mask_write:
            self.masks[node.mask_write] = mask
        return mask
