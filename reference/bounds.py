"""Proof, before training, that no accumulator of the chip can overflow."""

from collections.abc import Sequence

from hypercast.reference.array_types import IntMatrix
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.config import Config

__all__ = ["accumulator_bounds", "check_accumulators", "gradient_bounds"]


def accumulator_bounds(network: Network, matrices: Sequence[IntMatrix], features: IntMatrix,
                       element_width: int, root_weight: int = 0, *,
                       trained: bool = True) -> dict[str, int]:
    """Largest magnitude every kind of accumulator could reach, by what it sums.

    A sum is bounded by the sum of its terms' magnitudes, whatever the order. Mantissas that are
    known (edge weights and input features) count as they are, all others as the largest.

    Parameters
    ----------
    network : Network
        What is computed.
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
    inputs = abs(features)
    distinct = [abs(matrix) for matrix in {id(one): one for one in matrices}.values()]
    into, out_of = (max(int(edges.sum(axis=axis).max()) for edges in distinct) for axis in (1, 0))
    bounds = {"sum of a vertex's edge weights": (into + root_weight) * top + bias}
    for number, layer in enumerate(network.layers, 1):
        known = number == 1 and layer.order != AGGREGATE_FIRST
        terms = max(layer.features_in, *(weight.shape[0] for weight in network.weights(number)))
        row = int(inputs.sum(axis=1).max()) if known else terms * top
        bounds[f"sum over the input features of layer {number}"] = (
            row * top + (0 if layer.order == COMBINE_FIRST else bias))
    if not trained:
        return bounds
    gradients = gradient_bounds(network, features, element_width,
                                [features.shape[0], *(matrix.shape[0] for matrix in matrices)])
    bounds["sum of the edge weights from a vertex"] = (out_of + 2 * root_weight) * top
    bounds["sum of a bias gradient over the vertices"] = max(
        gradients[Tensor(Kind.BIAS, number)] for number, _ in enumerate(network.layers, 1))
    for number, layer in enumerate(network.layers, 1):
        bounds[f"sum of a weight gradient of layer {number} over the vertices"] = (
            max(gradients[weight.name] for weight in network.weights(number)))
        if number > 1:
            bounds[f"sum over the output features of layer {number}"] = (
                layer.features_out * top * top)
    return bounds


def gradient_bounds(network: Network, features: IntMatrix, element_width: int,
                    rows: Sequence[int] = ()) -> dict[Tensor, int]:
    """Largest magnitude each parameter's gradient could reach, summed over some vertices.

    Parameters
    ----------
    network : Network
        What is trained.
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
    bounds: dict[Tensor, int] = {}
    for number, layer in enumerate(network.layers, 1):
        known = number == 1 and layer.order != AGGREGATE_FIRST
        # Sums over neighbours have the rows of the output, their factors those of the input.
        summed = rows[number if layer.order == AGGREGATE_FIRST else number - 1] * top
        column = int(abs(features).sum(axis=0).max()) if known else summed
        for weight in network.weights(number):
            bounds[weight.name] = column * top
        bounds[Tensor(Kind.BIAS, number)] = rows[number] * top
    return bounds


def check_accumulators(network: Network, matrices: Sequence[IntMatrix], features: IntMatrix,
                       element_width: int, root_weight: int = 0, *, trained: bool = True) -> None:
    """Refuse what could overflow an accumulator; parameters as for ``accumulator_bounds``.

    Raises
    ------
    ValueError
        If a sum might not fit.
    """
    width = Config(element_width=element_width).accumulator_width
    limit = (1 << width - 1) - 1
    bounds = accumulator_bounds(network, matrices, features, element_width, root_weight,
                                trained=trained)
    for what, bound in bounds.items():
        if bound > limit:
            raise ValueError(f"{what} could reach {bound}, but an accumulator of {width} bits "
                             f"ends at {limit}: there are too many terms to add")
