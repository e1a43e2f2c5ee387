# SPDX-License-Identifier: BSD-2-Clause
"""The trace events are what the format wants, and say what the run was."""

import itertools
import json
from dataclasses import replace

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.timeline import profile
from hypercast.host.runtime.trace import CLOCK_MHZ, trace_events, write_trace
from hypercast.rtl.isa import Engine
from hypercast.rtl.registers import COUNTERS
from tests.host.models import SMALL, small_model
from tests.host.runtime.test_timeline import FIRST, STEP, recording


@pytest.fixture(scope="module")
def run():
    job = compile_job(small_model(), SMALL)
    timeline = recording(job)
    cycles = FIRST + STEP * len(timeline.issued)
    return profile(timeline, job, job.starts["train"], cycles,
                   {name: [5000, 5000] for name in COUNTERS})


def check_format(events):
    """Hold events against the "Trace Event Format"."""
    names = {}
    for event in events:
        assert {"ph", "ts", "pid", "tid", "name", "args"} <= event.keys()
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
        assert event["pid"] > 0 and event["ts"] >= 0
        assert isinstance(event["name"], str) and isinstance(event["args"], dict)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "process_sort_index", "thread_name",
                                     "thread_sort_index")
            kind = event["name"].split("_")
            assert event["args"].keys() == {"name" if kind[1] == "name" else "sort_index"}
            if event["name"] == "thread_name":
                assert event["tid"] not in {tid for _, tid in names}, "not unique"
            if kind[1] == "name":
                names[event["pid"], event["tid"]] = event["args"]["name"]
        elif event["ph"] == "X":
            assert event["dur"] > 0 and (event["pid"], event["tid"]) in names
        else:
            assert event["ph"] == "C" and (event["pid"], 0) in names
            assert all(isinstance(value, float) for value in event["args"].values())


def tracks(events):
    """Slices of each thread, in order."""
    found = {}
    for event in sorted((one for one in events if one["ph"] == "X"), key=lambda one: one["ts"]):
        found.setdefault(event["tid"], []).append(event)
    return found


def test_format(run):
    check_format(list(trace_events(run, SMALL)))


def test_slices_of_a_thread_do_not_overlap(run):
    for slices in tracks(trace_events(run, SMALL)).values():
        for before, after in itertools.pairwise(slices):
            assert before["ts"] + before["dur"] <= after["ts"] + 1e-9


def test_phases_and_layers(run):
    phases = tracks(trace_events(run, SMALL))[1]
    stretches = [str(name) for name, _ in itertools.groupby(one.phase for one in run.instructions)]
    assert [event["name"] for event in phases] == stretches
    for phase in run.phases:
        assert sum(event["dur"] for event in phases if event["name"] == str(phase.name)) == \
            pytest.approx((phase.cycles - FIRST * (str(phase.name) == stretches[0])) / CLOCK_MHZ)
    assert phases[0]["args"]["layer"] == 1 and phases[0]["cat"] == "forward"
    loss = next(event for event in phases if event["name"] == "loss")
    assert "layer" not in loss["args"] and loss["args"]["phase"] == "loss"
    end = phases[-1]["ts"] + phases[-1]["dur"]
    assert end == pytest.approx(run.cycles / CLOCK_MHZ)


def test_engines_of_every_core(run):
    events = list(trace_events(run, SMALL))
    cores = {event["pid"] for event in events
             if event["name"] == "process_name" and event["args"]["name"].startswith("core ")}
    assert len(cores) == SMALL.cores
    slices = [event for event in events if event["ph"] == "X" and event["pid"] in cores]
    assert len(slices) == len(run.slices.core)
    assert slices[0]["dur"] == pytest.approx(10 / CLOCK_MHZ)


def test_waiting_instructions_name_what_they_wait_for(run):
    waiting = tracks(trace_events(run, SMALL))[2]
    assert [event["name"] for event in waiting] == [
        instruction.name for instruction in run.instructions[1:]]
    for event, instruction in zip(waiting, run.instructions[1:], strict=True):
        waits = [engine.name.lower() for engine in Engine
                 if instruction.fields["waits"] >> engine & 1]
        assert event["args"]["waits"] == (", ".join(waits) if waits else "own engine")
    first = next(event for event in waiting if event["name"] == "AGGREGATE T1")
    assert first["args"]["waits"] == "own engine"  # it follows the DRAIN of T1


def test_file(run, tmp_path):
    path = tmp_path / "trace.json"
    write_trace(path, run, SMALL)
    content = json.loads(path.read_text())
    check_format(content["traceEvents"])
    assert content["otherData"]["clock"].startswith(f"{CLOCK_MHZ} MHz")


def percentages(run, work, length):
    """Percent of the array in spans of ``length`` cycles, in which it has so much ``work``."""
    names = run.instructions[0].counters
    instructions = [instruction._replace(cycle=length * number, counters={
        name: [count] * SMALL.cores if name == "array_words" else [0] * SMALL.cores
        for name in names})
        for number, (instruction, count) in enumerate(zip(run.instructions, work, strict=False))]
    counted = replace(run, instructions=instructions, cycles=length * len(work),
                      slices=run.slices._make(column[:0] for column in run.slices))
    return [event["args"]["percent"] for event in trace_events(counted, SMALL)
            if event["ph"] == "C" and event["name"] == "array"]


def test_percentages_have_one_decimal(run):
    assert percentages(run, [10, 20, 1], 30) == [33.3, 66.7, 3.3]


@pytest.mark.parametrize("late", [[0, 30, 0, 0], [0, 0, 0, 60], [5, 30, 10, 25], [0, 25, 25, 25]])
def test_what_is_counted_late_is_of_spans_before(run, late):
    """No resource works more than all the time; all that was counted is in the counter."""
    percent = percentages(run, late, 20)
    assert len(percent) == len(late) and max(percent) <= 100
    assert sum(percent) / 100 * 20 == pytest.approx(sum(late))
    for first in range(len(late)):  # work goes to earlier spans only
        assert sum(percent[first:]) / 100 * 20 <= sum(late[first:]) + 1e-9
