# SPDX-License-Identifier: BSD-2-Clause
"""How much of a board's work goes with its vertices, in edges."""

from hypercast.reference.network import Network
from hypercast.reference.step_graph import step_graph

__all__ = ["vertex_work"]

#: Columns of a panel, and panels of edges that a core adds up in a cycle, as most chips have them.
_LANES, _EDGES = 16, 2


def vertex_work(network: Network) -> int:
    """How many edges a vertex counts for in addition to its own, so that boards have as much to do.

    A core multiplies a panel of a row by a panel of the weights in ``lanes`` cycles for ``lanes``
    rows; it adds up ``eject`` panels of edges in one. Where features are many, and edges few, that
    is what counts.

    Parameters
    ----------
    network : Network
        The network that is trained, with its orders of products.
    """
    products = columns = 0
    for number in range(1, len(network.layers) + 1):
        # Forward, for the gradient of weights, and for the gradient of the inputs.
        passes = 3 if number > 1 else 2
        products += passes * sum(
            weight.shape[0] * weight.shape[1] for weight in network.weights(number))
        columns += sum(map(sum, step_graph(network).aggregated_columns(number)))
    return round(_EDGES * products / (_LANES * max(columns, 1)))
