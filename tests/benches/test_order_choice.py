# SPDX-License-Identifier: BSD-2-Clause
"""Default orders against the fastest: what the figures are made of, on small trainings."""

import itertools
from types import SimpleNamespace

import pytest

from hypercast.benches import order_choice
from hypercast.benches.order_choice import OrderedStep, order_figures
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.rtl.config import PRESETS

NETWORK, SIZES = Network.of_widths((40, 32, 7)), ([1_000] * 3, [31_000] * 2)


def step(orders, preset="test"):
    return OrderedStep(
        "some", NETWORK.with_orders(orders),
        lambda config: Workload.of_statistics(*SIZES, NETWORK, config), PRESETS[preset])


def test_orders_are_compared_by_their_cycles():
    """Whatever memory the chip has."""
    ratios = {orders: step(orders).slower() for orders in itertools.product(
        (COMBINE_FIRST, AGGREGATE_FIRST), repeat=2)}
    assert min(ratios.values()) == 1 < max(ratios.values())
    cycles = {orders: predict(step(orders).workload()).cycles for orders in ratios}
    for orders, ratio in ratios.items():
        assert ratio == pytest.approx(cycles[orders] / min(cycles.values()))


def test_the_worst_counts(monkeypatch):
    for name, values in (("_batches", [1.0, 1.02]), ("_trainings", [1.01]), ("_whole", []),
                         ("_bundles", [1.0])):
        monkeypatch.setattr(order_choice, name, lambda *_, values=values: [
            SimpleNamespace(name=str(value), slower=lambda value=value: value)
            for value in values])
    monkeypatch.setattr(order_choice, "_narrow", lambda *_: [("narrow", 1.2)])
    *each, worst, narrow = order_figures(None, {}, (), lambda text: None)
    assert [figure.value for figure in each] == [1.0, 1.02, 1.01, 1.0]
    assert worst.value == 1.02 and worst.passed and worst.bar == 1.03
    assert narrow.value == 1.2 and narrow.bar is None


def test_no_orders_may_be_the_best_on_all_chips():
    """The second figure says how near the best choice comes."""
    narrow = {"one": PRESETS["test"], "other": PRESETS["demo"]}
    figures = dict(itertools.islice(order_choice._narrow(narrow, [(60, 200, 8, 8, 3)]), 2))
    default, best = figures.values()
    assert 1 <= best <= default
