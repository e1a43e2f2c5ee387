"""Chooses the order of every layer's products: that of the fewest predicted cycles."""

import itertools
from collections.abc import Sequence

from hypercast.host.compiler.issue_order import TRIALS
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload

__all__ = ["choose_orders"]

#: By how much a schedule that tries many orders of instructions may be shorter than one that does
#: not (``issue_orders``).
_NEAR = 1.05
#: Networks of more layers are predicted with fewer trials: programs are longer, and pairs more.
_CAREFUL_LAYERS = 2


def choose_orders(workload: Workload) -> Workload:
    """The workload with the orders of the fewest cycles.

    What an order costs depends on the neighbouring layers: pairs of them are tried, first to last,
    beginning with convolutions that all combine first. What a first layer with dropout on its input
    aggregates would be another matrix in every step, so that layer combines first.

    Parameters
    ----------
    workload : Workload
        With any orders.

    Raises
    ------
    CapacityError
        If the network does not fit the configuration.
    """
    choices = [layer.orders for layer in workload.network.layers]
    if workload.network.layers[0].dropout:
        choices[0] = choices[0][:1]
    orders = tuple(choice[0] for choice in choices)
    for first in range(max(1, len(choices) - 1)):
        pairs = itertools.product(*choices[first:first + 2])
        orders = _best(workload, [(*orders[:first], *pair, *orders[first + 2:]) for pair in pairs])
    return workload.ordered(orders)


def _best(workload: Workload, candidates: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The orders of the fewest cycles; only those that are nearly so are predicted carefully."""
    cycles = {orders: predict(workload.ordered(orders), trials=1).cycles for orders in candidates}
    limit = _NEAR * min(cycles.values())
    near = [orders for orders in candidates if cycles[orders] <= limit]
    if len(near) == 1:
        return near[0]
    trials = max(1, _CAREFUL_LAYERS * TRIALS // len(near[0]))
    return min(near, key=lambda orders: predict(workload.ordered(orders), trials=trials).cycles)
