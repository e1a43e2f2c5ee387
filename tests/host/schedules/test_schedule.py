# SPDX-License-Identifier: BSD-2-Clause
"""How many micro-batches the boards of a stage may have in flight, by every schedule."""

import pytest

from hypercast.host.schedules.pipeline import Edge, Pipeline, Stage
from hypercast.host.schedules.schedule import SCHEDULES

#: Boards of stages, of which 0 leads to 1 and 2, and these lead to 3; 2 has the more behind it.
BOARDS = (2, 3, 1, 4)
BRANCHES = Pipeline(
    tuple(Stage(name=f"stage {number}", forward=count, backward=2 * count,
                boards=tuple(f"{number}.{one}" for one in range(count)))
          for number, count in enumerate(BOARDS)),
    tuple(Edge(source=source, target=target, forward=0, backward=0)
          for source, target in ((0, 1), (0, 2), (1, 3), (2, 3))))


@pytest.mark.parametrize(("name", "expected"), [
    # Behind stage 0 are seven boards, by way of stage 1. A board has its share, rounded up.
    ("1F1B", [5, 3, 5, 1]), ("SNO", [5, 3, 5, 1]),
    ("FBP", [9, 5, 10, 2]),
    ("SO", [8, 4, 9, 1]),
    ("GPipe", [13] * 4),
])
def test_in_flight(name, expected):
    assert SCHEDULES[name].in_flight(BRANCHES, 13) == expected


def test_paths_take_transfers_into_account():
    slow = Pipeline(BRANCHES.stages, tuple(
        Edge(source=edge.source, target=edge.target, forward=2, backward=1, latency=3)
        for edge in BRANCHES.edges))
    for pipeline in (BRANCHES, slow):
        assert SCHEDULES["paths"].in_flight(pipeline, 13) == pipeline.in_flight(hidden=False)
    assert slow.in_flight(hidden=False) > slow.in_flight(hidden=True)


def test_what_is_done_beside_what():
    assert {name for name, one in SCHEDULES.items() if one.hidden} == {"1F1B", "FBP"}
    assert {name for name, one in SCHEDULES.items() if one.two_engines} == {"FBP"}
    assert {name for name, one in SCHEDULES.items() if one.forward_first} == {"GPipe"}
