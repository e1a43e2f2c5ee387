# SPDX-License-Identifier: BSD-2-Clause
"""The matrices that a training step aggregates with."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse

from hypercast.host.compiler.transpose import transpose_csr
from hypercast.reference.array_types import SparseArray
from hypercast.reference.network import LINEAR, Network

__all__ = ["EdgeMatrix", "edge_matrices", "of_layers", "select_matrices", "shared_edge_matrices"]


class EdgeMatrix(NamedTuple):
    """A matrix, and where it is used.

    Attributes
    ----------
    name : str
        A or A^T, with the number of the layer if layers differ; I and I^T for rows that are added.
    matrix : scipy.sparse.csr_array of int64
        Mantissas.
    result, source : int
        Levels of its rows and columns: 0 for the input, else the layer whose output it is.
    uses : tuple of (int, bool)
        Layers, and whether it is the backward pass.
    root : bool
        Whether it is of rows that are added to sums over neighbours.
    """

    name: str
    matrix: SparseArray
    result: int
    source: int
    uses: tuple[tuple[int, bool], ...]
    root: bool = False


def edge_matrices(network: Network, matrices: Sequence[SparseArray], root_weight: int, *,
                  symmetric: bool, square: bool | None = None,
                  trained: bool = True) -> list[EdgeMatrix]:
    """List the ``EdgeMatrix`` es of a step.

    Parameters
    ----------
    network : Network
        The network that is trained.
    matrices : sequence of scipy.sparse.csr_array
        For each layer, (rows of its output, rows of its input): mantissas.
    root_weight : int
        Mantissa of 1 for rows that are added, 0 if none are.
    symmetric : bool
        Whether one matrix serves both ways if it is its own transpose.
    square : bool, optional
        Whether all matrices are square, in all samples of the training; by default, whether these
        are. If it is given, and not ``symmetric``, all samples have the same list, but for the
        matrices.
    trained : bool
        Whether there is a backward pass; if not, nothing is used by it.
    """
    layers_of: dict[int, list[int]] = {}
    for number, matrix in enumerate(matrices, 1):
        layers_of.setdefault(id(matrix), []).append(number)
    if square is None:
        square = len({size for matrix in matrices for size in matrix.shape}) == 1
    found = []
    for numbers in layers_of.values():
        tag = str(numbers[0]) if len(layers_of) > 1 else ""
        matrix, below, above = matrices[numbers[0] - 1], numbers[0] - 1, numbers[0]
        forward, backward = (
            tuple((number, way) for number in numbers
                  if (trained or not way) and _aggregates(network, number, way))
            for way in (False, True))
        turned = transpose_csr(matrix) if backward else None
        if backward and symmetric and square and _equal(matrix, turned):
            forward, backward = forward + backward, ()
        if forward:
            found.append(EdgeMatrix(f"A{tag}", matrix, above, below, forward))
        if backward:
            found.append(EdgeMatrix(f"A{tag}^T", turned, below, above, backward))
        if root_weight:
            found += [one for one in _roots(root_weight, matrix.shape, tag, numbers, square=square)
                      if trained or not one.uses[0][1]]
    return found


def shared_edge_matrices(network: Network, matrix: SparseArray, backward: SparseArray,
                         root_weight: int) -> list[EdgeMatrix]:
    """List the ``EdgeMatrix`` es of a step that devices share: each has the results of some rows.

    Columns are these rows, then rows of others. In the list, these are two levels behind the
    layers: first the sources of ``matrix``, then the sources of ``backward``.

    Parameters
    ----------
    network, root_weight
        As of ``edge_matrices``.
    matrix, backward : scipy.sparse.csr_array
        Mantissas of the edges towards the rows here, and of the edges from them, in all layers.
    """
    numbers = range(1, len(network.layers) + 1)
    found = []
    for name, edges, back in (("A", matrix, False), ("A^T", backward, True)):
        uses = tuple((number, back) for number in numbers if _aggregates(network, number, back))
        if uses:
            found.append(EdgeMatrix(name, edges, 0, len(numbers) + 1 + back, uses))
    if root_weight:
        own = matrix.shape[0]
        found += _roots(root_weight, (own, own), "", numbers, square=True)
    return found


def of_layers(matrices: Iterable[EdgeMatrix], layers: range, *,
              trained: bool = True) -> Iterator[EdgeMatrix]:
    """The matrices that a few layers use, in a forward pass and, if trained, backward."""
    for one in matrices:
        uses = tuple((number, backward) for number, backward in one.uses
                     if number in layers and (trained or not backward))
        if uses:
            yield one._replace(uses=uses)


def _equal(matrix: SparseArray, other: SparseArray) -> bool:
    """Whether two CSR arrays are equal, sooner found if both have the same entries in order.

    Zeros that one of them stores are zeros.
    """
    pairs = ((matrix.indptr, other.indptr), (matrix.indices, other.indices),
             (matrix.data, other.data))
    if all(np.array_equal(*pair) for pair in pairs):
        return True
    return bool((matrix != other).nnz == 0)


def select_matrices(network: Network, matrices: Iterable[EdgeMatrix]) -> Iterator[EdgeMatrix]:
    """The matrices that a network with other orders of its layers uses, and where.

    Layers that combine first use all that others use.
    """
    for one in matrices:
        uses = tuple(use for use in one.uses if one.root or _aggregates(network, *use))
        if uses:
            yield one._replace(uses=uses)


def _aggregates(network: Network, number: int, backward: bool) -> bool:
    """Whether a layer aggregates; the gradient of the features is not needed."""
    return network.layers[number - 1].order != LINEAR and not (
        backward and network.aggregates_features(number))


def _roots(weight: int, shape: tuple[int, int], tag: str, numbers: Sequence[int], *,
           square: bool) -> list[EdgeMatrix]:
    """Matrices of rows that are added; the identity of a square matrix serves both ways."""
    below, above = numbers[0] - 1, numbers[0]
    identity = weight * scipy.sparse.eye_array(*shape, dtype="int64", format="csr")
    forward, backward = (tuple((number, way) for number in numbers) for way in (False, True))
    if square:
        return [EdgeMatrix(f"I{tag}", identity, above, below, forward + backward, root=True)]
    return [EdgeMatrix(f"I{tag}", identity, above, below, forward, root=True),
            EdgeMatrix(f"I{tag}^T", identity.T.tocsr(), below, above, backward, root=True)]
