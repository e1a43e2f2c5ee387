# SPDX-License-Identifier: BSD-2-Clause
"""Virtual times: their record, and the timeline, which names every track that has a slice."""

import json
import re

import pytest

from hypercast.host.processes.clock import BusyInterval
from hypercast.host.processes.virtual_time import VirtualTime, write_timeline

TIME = VirtualTime(
    steps=4, boards=("b", "a"), seconds=0.5, computed=(0.4, 0.3), waited=(0.1, 0.25), alone=0.7,
    intervals=(BusyInterval("b", "forward 1", 0.25, 0.375), BusyInterval("out", "1.5 kB", 0.3, 0.5),
               BusyInterval("b", "backward 1", 0.375, 0.5)))


def test_a_timeline_has_a_named_track_for_each_board_and_port(tmp_path):
    """Boards without a slice have one, too; times are in microseconds."""
    path = tmp_path / "timeline.json"
    write_timeline(path, TIME)
    events = json.loads(path.read_text())["traceEvents"]
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
             if (event["ph"], event["name"]) == ("M", "thread_name")}
    assert sorted(names.values()) == ["a", "b", "out"]
    slices = [(names[event["pid"], event["tid"]], event["name"], event["ts"] / 1e6,
               (event["ts"] + event["dur"]) / 1e6) for event in events if event["ph"] == "X"]
    assert [one[:2] for one in slices] == [one[:2] for one in TIME.intervals]
    for found, interval in zip(slices, TIME.intervals, strict=True):
        assert found[2:] == pytest.approx(interval[2:])
    assert len(events) == len(names) + len(slices)


def test_what_is_said_of_it():
    assert re.search(r": 125 ms a step, 1\.40 times as fast as b alone; .* b 20\.0%, a 50\.0%$",
                     str(TIME))


def test_its_record_is_json():
    record = json.loads(json.dumps(TIME.record()))
    assert record.pop("slots") == [list(interval) for interval in TIME.intervals]
    assert record == {"steps": 4, "boards": ["b", "a"], "seconds": 0.5, "computed": [0.4, 0.3],
                      "waited": [0.1, 0.25], "alone": 0.7}
