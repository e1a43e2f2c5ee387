# SPDX-License-Identifier: BSD-2-Clause
"""Orders are those of the shortest schedule found, and never run out of buffers."""

from types import SimpleNamespace

import pytest

from hypercast.host.compiler import issue_order
from hypercast.host.compiler.instruction import Accumulators
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.timing import Duration
from hypercast.rtl.isa import DrainSource, Opcode
from tests.host.noted_programs import noted, summary


def add(schedule, opcode, cycles, label, *, reads=(), writes=(), accumulators=None):
    schedule.add(opcode, phase=0, duration=Duration(cycles=cycles), reads=reads, writes=writes,
                 accumulators=accumulators, label=label)


def ordered(schedule):
    """Labels in order of issue."""
    schedule.halt(phase=0, step=0)
    return [label for _, label in schedule.labels]


def add_late_product(schedule, between=0):
    """When the array is free, a long product could begin; soon, one on which much depends.

    Its operand takes a second instruction of so many cycles, if any.
    """
    filler, short = Accumulators(DrainSource.ARRAY), Accumulators(DrainSource.ARRAY)
    add(schedule, Opcode.MATMUL, 100, "before", writes=["z"])
    add(schedule, Opcode.LOSS, 120, "first", writes=["a"])
    add(schedule, Opcode.MATMUL, 1000, "filler", reads=["z"], accumulators=filler)
    add(schedule, Opcode.DRAIN, 10, "filler out", accumulators=filler)
    if between:
        add(schedule, Opcode.LOSS, between, "second", reads=["a"], writes=["a"])
    add(schedule, Opcode.MATMUL, 50, "urgent", reads=["a"], accumulators=short)
    add(schedule, Opcode.DRAIN, 10, "urgent out", writes=["b"], accumulators=short)
    add(schedule, Opcode.LOSS, 1000, "rest", reads=["b"])


def test_an_engine_waits_for_the_longer_path():
    """Greedily, the array would begin the long product just before the urgent one is ready."""
    schedule = Schedule()
    add_late_product(schedule)
    order = ordered(schedule)
    assert order.index("urgent") < order.index("filler")


def test_without_patience_it_would_not(monkeypatch):
    monkeypatch.setattr(issue_order, "_PATIENCE", ((0.0, 0.0),))
    monkeypatch.setattr(issue_order, "_MORE_PATIENCE", ())
    schedule = Schedule()
    add_late_product(schedule)
    order = ordered(schedule)
    assert order.index("filler") < order.index("urgent")


@pytest.mark.parametrize("foresight, later", [(0.4, "filler"), (0.0, "urgent")])
def test_an_engine_waits_for_what_another_is_about_to_do(foresight, later, monkeypatch):
    """The long product could begin before the one that makes the urgent one's operand is issued."""
    monkeypatch.setattr(issue_order, "_PATIENCE", ((1.0, foresight),))
    monkeypatch.setattr(issue_order, "_MORE_PATIENCE", ())
    schedule = Schedule(trials=1)
    add_late_product(schedule, between=60)
    order = ordered(schedule)
    assert max("filler", "urgent", key=order.index) == later


@pytest.mark.parametrize(("trials", "orders"), [(1, 7), (3, 15)])
def test_most_patience_is_tried_with_the_paths_as_they_are(trials, orders, monkeypatch):
    """Four degrees with each of the paths, and three more with the first."""
    tried = []
    monkeypatch.setattr(issue_order, "_schedule", lambda program, paths, patience, foresight: (
        tried.append((patience, foresight)), SimpleNamespace(buffers={})))
    assert len(list(issue_order.issue_orders([], trials))) == orders
    assert all(tried.count(one) == 1 for one in ((0.2, 1.5), (0.2, 2.0), (2.0, 0.4)))


def test_without_trials_there_is_one_order_of_no_patience(monkeypatch):
    schedules = [Schedule(trials=0), Schedule(trials=1)]
    monkeypatch.setattr(issue_order, "_MORE_PATIENCE", ())
    monkeypatch.setattr(issue_order, "_PATIENCE", ((0.0, 0.0),))
    for schedule in schedules:
        add_late_product(schedule)
    assert ordered(schedules[0]) == ordered(schedules[1])
    monkeypatch.setattr(issue_order, "_PATIENCE", ((0.2, 0.4), (0.5, 0.4)))
    assert len(list(issue_order.issue_orders([], 0))) == 1


@pytest.mark.parametrize("reduction", [False, True])
@pytest.mark.parametrize("sums", [1, 2, 3, 5])
def test_what_could_not_finish_leaves_a_buffer(sums, reduction):
    """Sums that could begin, but need others that are made last: one buffer is left to those.

    Each of their paths is longer than that of the first of these. So it is with a reduction that
    could end, but what takes it has to wait, as an update of weights that are read until then.
    """
    schedule = Schedule()
    first, last = (Accumulators(DrainSource.AGGREGATION) for _ in range(2))
    add(schedule, Opcode.LOSS, 500, "given", writes=["given"])
    for name, accumulators, reads in (("first", first, ["given"]), ("last", last, ["first"])):
        add(schedule, Opcode.AGGREGATE, 10, name, reads=reads, accumulators=accumulators)
        add(schedule, Opcode.DRAIN, 10, f"{name} out", writes=[name], accumulators=accumulators)
    for number in range(sums):
        waiting = Accumulators(DrainSource.AGGREGATION)
        add(schedule, Opcode.AGGREGATE, 10, f"begin {number}", accumulators=waiting)
        add(schedule, Opcode.AGGREGATE, 10, f"end {number}", reads=["last"], accumulators=waiting)
        add(schedule, Opcode.DRAIN, 500, f"out {number}", accumulators=waiting)
    if reduction:
        reduced = Accumulators(DrainSource.AGGREGATION)
        add(schedule, Opcode.GRADIENT, 10, "begin", accumulators=reduced)
        add(schedule, Opcode.UPDATE, 500, "out", reads=["last"], accumulators=reduced)
    order = ordered(schedule)
    assert len(order) == 3 * sums + 5 + 2 * reduction
    begun = [label for label in order[:order.index("last out")] if label.startswith("begin")]
    assert len(begun) <= 1


def test_an_order_is_always_the_same():
    orders = []
    for _ in range(2):
        schedule = Schedule()
        add_late_product(schedule)
        orders.append(ordered(schedule))
    assert orders[0] == orders[1]


@pytest.mark.parametrize("name", [
    "plain", "residual", "GraphSAGE", "jumping", "slow memory", "nothing bypassed",
    "dropout and Adam", "two bypassed panels", "orders that differ"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
