# SPDX-License-Identifier: BSD-2-Clause
"""Chooses the order of every layer's products: the one with the fewest predicted cycles."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from hypercast.host.compiler.issue_order import TRIALS
from hypercast.host.compiler.load import Load
from hypercast.host.cycle_model.layer_window import layer_window
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.network import AGGREGATE_FIRST, LINEAR, Layer
from hypercast.rtl.limits import group_size

__all__ = ["choose_orders"]

#: By how much a schedule may be shorter if many orders of instructions are tried (``issue_orders``)
#: instead of a few; and if a few are tried instead of one.
_NEAR, _CLOSE = 1.05, 1.003
#: Networks of more layers are predicted with fewer trials: programs are longer, and pairs more. In
#: networks of more than ``_CAREFUL_LAYERS * TRIALS`` layers, fewer are predicted with any.
_CAREFUL_LAYERS = 2
#: Layers that are predicted together: what an order costs depends on the neighbouring ones.
_WINDOW = 4

#: What decides a prediction of some layers, but for their number.
_Alike: TypeAlias = tuple[tuple[Layer, ...], tuple[int, ...], int, bool, int, tuple[int, ...],
                          tuple[tuple[Load, ...], ...]]


def choose_orders(workload: Workload, *, trials: int | None = None,
                  spared: float = 0.0) -> Workload:
    """The workload with the orders of the fewest cycles.

    What an order costs depends on the neighbouring layers: pairs of a layer and its reader are
    tried, first to last, beginning with convolutions that all combine first. A pair is predicted
    with the layers next to it, as if there were no others, so that the work is linear in the
    layers; and pairs that are alike, with neighbours that are, are predicted once. Input features
    with dropout are another matrix in every step, so the layers that read them combine first.

    Parameters
    ----------
    workload : Workload
        With any orders.
    trials : int, optional
        How hard schedules try, see ``issue_orders``; as hard as the number of layers allows, if not
        given.
    spared : float
        Share by which the cycles of a few layers may exceed the fewest if fewer of them aggregate
        first.

    Raises
    ------
    CapacityError
        If the network does not fit the configuration.
    """
    choices = [layer.orders for layer in workload.network.layers]
    for reader in workload.network.readers(0):
        if workload.network.layers[reader - 1].dropout:
            choices[reader - 1] = choices[reader - 1][:1]
    count = len(choices)
    trials = _CAREFUL_LAYERS * TRIALS // count if trials is None else trials
    workload = workload.with_orders(choice[0] for choice in choices)
    chosen: dict[_Alike, tuple[str, ...]] = {}
    for number in range(min(2, count), count + 1):
        path = workload.network.path(number)
        first = max(0, path.index(number) - 1)
        begin = max(0, min(first - 1, len(path) - _WINDOW))
        window = layer_window(workload, path[begin:begin + _WINDOW])
        place, pair = first - begin, path[first:first + 2]
        alike = _alike(window, begin, place)
        if alike not in chosen:
            orders = window.orders
            chosen[alike] = _best(window, [
                (*orders[:place], *tried, *orders[place + 2:])
                for tried in itertools.product(*(choices[one - 1] for one in pair))], trials,
                spared)
        found = dict(zip(pair, chosen[alike][place:], strict=False))
        workload = workload.with_orders(found.get(one, order)
                                        for one, order in enumerate(workload.orders, 1))
    return workload


def _alike(window: Workload, begin: int, place: int) -> _Alike:
    """The properties that decide the orders of a pair, whose first layer has ``place`` (from 0).

    Instructions work on panels of columns, the loss on groups of logits: how many there are is all
    that features and classes decide. What weights are multiplied by decides nothing.
    """
    config, network = window.config, window.network
    layers = tuple(replace(layer, features_in=-(-layer.features_in // config.lanes),
                           features_out=-(-layer.features_out // config.lanes),
                           alpha=0.5 if layer.alpha else 0.0, beta=1.0)
                   for layer in network.layers)
    loads = tuple(tuple(window.loads(number, backward)) for number, layer in
                  enumerate(network.layers, 1) if layer.order != LINEAR
                  for backward in (False, True))
    groups = -(-network.classes // group_size(config))
    return layers, network.jumping, groups, begin == 0, place, window.vertices, loads


def _best(workload: Workload, candidates: Sequence[tuple[str, ...]],
          trials: int, spared: float) -> tuple[str, ...]:
    """The orders of the fewest cycles, or orders that aggregate first less and are nearly as fast.

    All are predicted with a single order of instructions, which ranks them nearly as well as many
    do. Only the nearly fastest orders are predicted with more trials.
    """
    near: Sequence[tuple[str, ...]] = candidates
    cycles: dict[tuple[str, ...], int] = {}
    for effort in sorted({0, 1, trials}):
        cycles = {orders: predict(workload.with_orders(orders), trials=effort).cycles
                  for orders in near}
        limit = (_NEAR if trials else _CLOSE) * min(cycles.values())
        near = [orders for orders in near if cycles[orders] <= limit]
        if len(near) == 1:
            break
    most = (1 + spared) * min(cycles.values())
    return min((orders for orders in near if cycles[orders] <= most),
               key=lambda orders: (orders.count(AGGREGATE_FIRST), cycles[orders]))
