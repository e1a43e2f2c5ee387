"""Proof, before training, that no accumulator of the chip can overflow."""

from hypercast.reference.array_types import IntMatrix
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.config import Config

__all__ = ["accumulator_bounds", "check_accumulators", "gradient_bounds"]


def accumulator_bounds(network: Network, adjacency: IntMatrix, features: IntMatrix,
                       element_width: int, root_weight: int = 0) -> dict[str, int]:
    """Largest magnitude every kind of accumulator could reach, by what it sums.

    A sum is bounded by the sum of its terms' magnitudes, whatever the order. Mantissas that are
    known (edge weights and input features) count as they are, all others as the largest.

    Parameters
    ----------
    network : Network
        What is trained.
    adjacency, features : scipy.sparse array or array of int
        Mantissas.
    element_width : int
        Bits of a mantissa.
    root_weight : int
        Edge weight with which up to two rows are added to a sum.
    """
    top = 1 << element_width - 1
    bias = top << Config(element_width=element_width).accumulator_width - element_width - 1
    edges, inputs = abs(adjacency), abs(features)
    into, out_of = (int(edges.sum(axis=axis).max()) for axis in (1, 0))
    gradients = gradient_bounds(network, features, element_width)
    bounds = {
        "sum of a vertex's edge weights": (into + root_weight) * top + bias,
        "sum of the edge weights from a vertex": (out_of + 2 * root_weight) * top,
        "sum of a bias gradient over the vertices": gradients[Tensor(Kind.BIAS, 1)],
    }
    for number, layer in enumerate(network.layers, 1):
        known = number == 1 and layer.order != AGGREGATE_FIRST
        row = int(inputs.sum(axis=1).max()) if known else layer.features_in * top
        bounds[f"sum over the input features of layer {number}"] = (
            row * top + (0 if layer.order == COMBINE_FIRST else bias))
        bounds[f"sum of a weight gradient of layer {number} over the vertices"] = (
            max(gradients[weight.name] for weight in network.weights(number)))
        if number > 1:
            bounds[f"sum over the output features of layer {number}"] = (
                layer.features_out * top * top)
    return bounds


def gradient_bounds(network: Network, features: IntMatrix, element_width: int) -> dict[Tensor, int]:
    """Largest magnitude each parameter's gradient could reach, summed over some vertices.

    Parameters
    ----------
    network : Network
        What is trained.
    features : (V, F) scipy.sparse array or array of int
        Mantissas of these vertices' input features.
    element_width : int
        Bits of a mantissa.

    Returns
    -------
    dict
        Bound by parameter name.
    """
    top = 1 << element_width - 1
    unknown = features.shape[0] * top
    bounds: dict[Tensor, int] = {}
    for number, layer in enumerate(network.layers, 1):
        known = number == 1 and layer.order != AGGREGATE_FIRST
        column = int(abs(features).sum(axis=0).max()) if known else unknown
        for weight in network.weights(number):
            bounds[weight.name] = column * top
        bounds[Tensor(Kind.BIAS, number)] = unknown
    return bounds


def check_accumulators(network: Network, adjacency: IntMatrix, features: IntMatrix,
                       element_width: int, root_weight: int = 0) -> None:
    """Refuse what could overflow an accumulator; parameters as for ``accumulator_bounds``.

    Raises
    ------
    ValueError
        If a sum might not fit.
    """
    width = Config(element_width=element_width).accumulator_width
    limit = (1 << width - 1) - 1
    bounds = accumulator_bounds(network, adjacency, features, element_width, root_weight)
    for what, bound in bounds.items():
        if bound > limit:
            raise ValueError(f"{what} could reach {bound}, but an accumulator of {width} bits "
                             f"ends at {limit}: there are too many terms to add")
