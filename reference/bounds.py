# SPDX-License-Identifier: BSD-2-Clause
"""Proof, before training, that no accumulator of the chip can overflow.

Sums of gradients over the vertices are not proved: ``StepSums.check`` and the chip find out whether
they fit.
"""

from collections.abc import Sequence

from hypercast.errors import InputError
from hypercast.reference.array_types import IntMatrix
from hypercast.reference.network import Network
from hypercast.reference.step_graph import Node, Op, ParameterGradient, Term, step_graph
from hypercast.reference.tensor import FEATURES, ONE, Tensor
from hypercast.rtl.config import Config

__all__ = ["accumulator_bounds", "check_accumulators", "gradient_bounds"]


def accumulator_bounds(network: Network, matrices: Sequence[IntMatrix], features: IntMatrix,
                       element_width: int, root_weight: int = 0, *,
                       trained: bool = True) -> dict[str, int]:
    """Largest magnitude that each kind of accumulator could reach, by the terms that it sums.

    Sums of gradients over the vertices are left out; ``gradient_bounds`` gives them.

    A sum is bounded by the sum of its terms' magnitudes, whatever the order. Known mantissas (edge
    weights and input features) count with their own values, all others with the largest.

    Parameters
    ----------
    network : Network
        The network that is computed.
    matrices : sequence of scipy.sparse arrays or arrays of int
        For each layer, (rows of its output, rows of its input): mantissas of edge weights.
    features : scipy.sparse array or array of int
        Mantissas of the input features.
    element_width : int
        Bits of a mantissa.
    root_weight : int
        Edge weight with which up to two rows are added to a sum.
    trained : bool
        Whether there is a backward pass.
    """
    top = 1 << element_width - 1
    bias = top << Config(element_width=element_width).accumulator_width - element_width - 1
    known = int(abs(features).sum(axis=1).max())
    distinct = [abs(matrix) for matrix in {id(one): one for one in matrices}.values()]
    neighbours = {backward: max(int(edges.sum(axis=int(not backward)).max()) for edges in distinct)
                  for backward in (False, True)}
    graph = step_graph(network)

    def bound(term: Term, *, backward: bool) -> int:
        """The largest sum that a term can be."""
        if term.op == Op.MULTIPLY:
            return (known if term.rows == FEATURES else graph.columns[term.rows] * top) * top
        return (neighbours[backward] if term.op == Op.AGGREGATE else root_weight) * top

    bounds: dict[str, int] = {}
    for node in (*graph.forward, *graph.backward) if trained else graph.forward:
        what = _what(node)
        bounds[what] = max(bounds.get(what, 0), (bias if node.bias else 0) + sum(
            bound(term, backward=node.backward) for term in node.terms))
    return bounds


def _what(node: Node) -> str:
    """The terms that a node sums, in words."""
    if node.terms[0].op == Op.MULTIPLY:
        side = "output" if node.backward else "input"
        return f"sum over the {side} features of layer {node.layer}"
    return "sum of the edge weights from a vertex" if node.backward else \
        "sum of a vertex's edge weights"


def gradient_bounds(network: Network, features: IntMatrix, element_width: int,
                    rows: Sequence[int] = ()) -> dict[Tensor, int]:
    """Largest magnitude each parameter's gradient could reach, summed over some vertices.

    Parameters
    ----------
    network : Network
        The network that is trained.
    features : (V, F) scipy.sparse array or array of int
        Mantissas of these vertices' input features.
    element_width : int
        Bits of a mantissa.
    rows : sequence of int, optional
        Vertices of the input, and of every layer's output, if they are not the same.

    Returns
    -------
    dict
        Bound by parameter name.
    """
    top = 1 << element_width - 1
    rows = rows or [features.shape[0]] * (len(network.layers) + 1)
    known = int(abs(features).sum(axis=0).max()) if features.shape[0] else 0

    def bound(gradient: ParameterGradient) -> int:
        if gradient.left == ONE:
            return rows[gradient.right.level] * top
        return (known if gradient.left == FEATURES else rows[gradient.left.level] * top) * top

    return {gradient.parameter: bound(gradient)
            for gradient in reversed(step_graph(network).gradients.values())}


def check_accumulators(network: Network, matrices: Sequence[IntMatrix], features: IntMatrix,
                       element_width: int, root_weight: int = 0, *, trained: bool = True) -> None:
    """Refuse sums that could overflow an accumulator; parameters as for ``accumulator_bounds``.

    Raises
    ------
    InputError
        If a sum might not fit.
    """
    width = Config(element_width=element_width).accumulator_width
    limit = (1 << width - 1) - 1
    bounds = accumulator_bounds(network, matrices, features, element_width, root_weight,
                                trained=trained)
    for what, bound in bounds.items():
        if bound > limit:
            raise InputError(f"{what} could reach {bound}, but an accumulator of {width} bits "
                             f"ends at {limit}: there are too many terms to add")
