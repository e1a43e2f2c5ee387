"""The matrices that a training step aggregates with."""

from collections.abc import Sequence
from typing import NamedTuple

import scipy.sparse

from hypercast.reference.array_types import SparseArray
from hypercast.reference.network import AGGREGATE_FIRST, LINEAR, Network
from hypercast.reference.sample import Sample

__all__ = ["EdgeMatrix", "edge_matrices"]


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


def edge_matrices(network: Network, sample: Sample, *, symmetric: bool) -> list[EdgeMatrix]:
    """List the ``EdgeMatrix`` es of a step.

    Parameters
    ----------
    network : Network
        What is trained.
    sample : Sample
        What it is trained on.
    symmetric : bool
        Whether one matrix serves both ways if it is its own transpose. If not, all samples of a
        training have the same list, but for the matrices.
    """
    layers_of: dict[int, list[int]] = {}
    for number, matrix in enumerate(sample.edges, 1):
        layers_of.setdefault(id(matrix), []).append(number)
    found = []
    for numbers in layers_of.values():
        tag = str(numbers[0]) if len(layers_of) > 1 else ""
        matrix, below, above = sample.edges[numbers[0] - 1], numbers[0] - 1, numbers[0]
        orders = {number: network.layers[number - 1].order for number in numbers}
        forward = tuple((number, False) for number in numbers if orders[number] != LINEAR)
        # The gradient of the features is not needed.
        backward = tuple((number, True) for number in numbers if orders[number] != LINEAR
                         and (number > 1 or orders[number] != AGGREGATE_FIRST))
        transposed = matrix.T.tocsr()
        if symmetric and sample.square and (matrix != transposed).nnz == 0:
            forward, backward = forward + backward, ()
        if forward:
            found.append(EdgeMatrix(f"A{tag}", matrix, above, below, forward))
        if backward:
            found.append(EdgeMatrix(f"A{tag}^T", transposed, below, above, backward))
        if sample.root_weight:
            found += _roots(sample, tag, numbers)
    return found


def _roots(sample: Sample, tag: str, numbers: Sequence[int]) -> list[EdgeMatrix]:
    """Matrices of rows that are added; the identity of a square matrix serves both ways."""
    below, above = numbers[0] - 1, numbers[0]
    identity = sample.root_weight * scipy.sparse.eye_array(
        *sample.edges[below].shape, dtype="int64", format="csr")
    forward, backward = (tuple((number, way) for number in numbers) for way in (False, True))
    if sample.square:
        return [EdgeMatrix(f"I{tag}", identity, above, below, forward + backward, root=True)]
    return [EdgeMatrix(f"I{tag}", identity, above, below, forward, root=True),
            EdgeMatrix(f"I{tag}^T", identity.T.tocsr(), below, above, backward, root=True)]
