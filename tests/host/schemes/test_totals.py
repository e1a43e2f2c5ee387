# SPDX-License-Identifier: BSD-2-Clause
"""Totals of all ranks: sums of gradients and metrics, and the largest peaks."""

from unittest.mock import Mock

import numpy as np
import pytest

from hypercast.host.schemes.totals import Totals
from hypercast.host.schemes.worker import Worker
from hypercast.reference.metrics import Metrics
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Kind, Pass, Tensor
from hypercast.reference.training_state import TrainingState
from tests.host.processes.thread_group import on_ranks

W1, B1, T1, H1 = (Tensor(kind, 1) for kind in (
    Kind.WEIGHTS, Kind.BIAS, Kind.COMBINED, Kind.HIDDEN))
T2 = Tensor(Kind.COMBINED, 2, Pass.EVALUATION)
STATE = TrainingState(
    step=0, parameters={W1: {"master": np.zeros((2, 3))}, B1: {"master": np.zeros(3)}},
    exponents=dict.fromkeys((W1, T1, H1, T2), (0, None)), momentum_exponents={})


def metrics(first):
    return Metrics(*(np.arange(4) + first * factor for factor in (1, 10, 100, 1000)), 0.5)


def sums(rank):
    return StepSums(
        gradients={W1: np.arange(6).reshape(2, 3) * (rank + 1), B1: np.full(3, 1 << 40 + rank)},
        entries={W1: (-3, 5 + rank), T1: (-7, None), H1: (2, 4 - rank)}, metrics=metrics(rank),
        saturations=rank + 1)


def together(ranks, unit, actions):
    """What actions with totals give on each rank."""
    return on_ranks(ranks, lambda group: Worker(Mock(), None, group).carry_out(
        actions(Totals(STATE, unit), group.rank)))


def test_what_all_ranks_found():
    """Rank 1 has nothing in this step."""
    found = together(3, 0.25, lambda totals, rank: totals.of(None if rank == 1 else sums(rank)))
    for one in found:
        assert np.array_equal(one.gradients[W1], np.arange(6).reshape(2, 3) * 4)
        assert one.gradients[B1].tolist() == [(1 << 40) + (1 << 42)] * 3
        assert one.saturations == 4
        for name, factor in (("loss", 1), ("correct", 10), ("wrong", 100), ("vertices", 1000)):
            assert np.array_equal(getattr(one.metrics, name), 2 * np.arange(4) + 2 * factor)
        assert one.metrics.unit == 0.25
        assert one.entries == {W1: (-3, 7), T1: (-7, None), H1: (2, 4)}


def test_metrics_alone():
    found = together(2, 0.25, lambda totals, rank: totals.metrics(metrics(rank)))
    assert [one.wrong.tolist() for one in found] == [[100, 102, 104, 106]] * 2
    assert found[1].unit == 0.25


def test_entries_of_any_rank_are_those_of_all():
    """Negative exponents and peaks, too; ranks that have no peak do not lower it."""
    given = [{T1: (-28, -3)}, {T2: (31, 0), T1: (-28, None)}, {}]
    found = together(3, 1.0, lambda totals, rank: totals.entries(given[rank]))
    assert found == [{T1: (-28, -3), T2: (31, 0)}] * 3


@pytest.mark.parametrize(("first", "second"), [(-3, -4), (-4, -3), (0, 5)])
def test_exponents_that_differ_are_named(first, second):
    with pytest.raises(ValueError, match=(
            rf"^T1 has exponent {min(first, second)} on one board and {max(first, second)} on "
            r"another; make all samples of a step with the same exponents$")):
        together(2, 1.0, lambda totals, rank: totals.entries({T1: ((first, second)[rank], 1)}))
