"""Chooses the order of every layer's products: that of the fewest predicted cycles."""

import itertools

from hypercast.host.model.prediction import predict
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST

__all__ = ["choose_orders"]


#: Sizes of tiles, in proportion, that ``split`` tries: alike, if the array is slower than
#: aggregation, and ever smaller ones, if it waits for the last.
_SPLITS = ((1, 1), (1, 1, 1), (1, 1, 1, 1), (2, 1, 1), (3, 2, 1), (4, 2, 1, 1), (4, 3, 2, 1))


def choose_orders(workload, *, split=False):
    """A ``Workload`` with the orders of the fewest cycles, and its ``Prediction``.

    All combinations are predicted. What a first layer with dropout on its input aggregates would be
    another matrix in every step, so that layer combines first.

    Parameters
    ----------
    workload : Workload
        With any orders.
    split : bool
        Whether the output of a first layer that aggregates first may be split.
    """
    dropout = workload.network.layers[0].dropout > 0
    orders = itertools.product((COMBINE_FIRST, AGGREGATE_FIRST),
                               repeat=len(workload.network.layers))
    best = _best(workload.ordered(one) for one in orders
                 if not (dropout and one[0] == AGGREGATE_FIRST))
    if not split or best[0].combines_first:
        return best
    return min(best, _best(workload.ordered(best[0].orders, sizes) for sizes in _SPLITS),
               key=_cycles)


def _best(workloads):
    return min(((one, predict(one)) for one in workloads), key=_cycles)


def _cycles(pair):
    return pair[1].cycles
