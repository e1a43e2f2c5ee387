"""The two tensors that each parameter's gradient is a product of."""

from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.tensor import FEATURES, ONE, Kind, Tensor

__all__ = ["gradient_factors"]


def gradient_factors(network: Network) -> dict[Tensor, tuple[Tensor, Tensor]]:
    """Left and right factor of the accumulated gradient ``left.T @ right`` of each parameter.

    Parameters
    ----------
    network : Network
        What is trained.

    Returns
    -------
    dict
        Parameters from the last layer to the first, a layer's bias before its weights.
    """
    found: dict[Tensor, tuple[Tensor, Tensor]] = {}
    for number in range(len(network.layers), 0, -1):
        order, outputs = network.layers[number - 1].order, Tensor(Kind.GRADIENT, number)
        found[Tensor(Kind.BIAS, number)] = ONE, outputs
        for weight in network.weights(number):
            left = Tensor(Kind.HIDDEN, weight.source) if weight.source else FEATURES
            right = outputs
            if order == AGGREGATE_FIRST:
                left = Tensor(Kind.AGGREGATED, number)
            elif order == COMBINE_FIRST and not weight.root:
                right = Tensor(Kind.COMBINED_GRADIENT, number)
            found[weight.name] = left, right
    return found
