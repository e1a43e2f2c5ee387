# SPDX-License-Identifier: BSD-2-Clause
"""Schedules take the time that theory says, and on any pipeline do what they are to do, in order.
"""

import math

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hypercast.host.schedules.execution import BACKWARD, FORWARD, run
from hypercast.host.schedules.pipeline import Edge, Pipeline, Stage
from hypercast.host.schedules.schedule import SCHEDULES

COUNTS = {"stages": st.integers(1, 6), "batches": st.integers(1, 14)}
TIMES = {"forward": st.integers(1, 8), "backward": st.integers(1, 8)}


def chain(stages, forward, backward, sent):
    one = Stage(name="stage", forward=forward, backward=backward)
    return Pipeline.chain([one] * stages, [sent] * (stages - 1))


def worked(name, stages, batches, forward, backward, sent, **settings):
    timeline = run(chain(stages, forward, backward, sent), SCHEDULES[name], batches, **settings)
    return timeline.seconds, list(timeline.peaks)


@given(**COUNTS, **TIMES, sent=st.integers(0, 8))
def test_one_forward_one_backward(stages, batches, forward, backward, sent):
    assume(sent <= min(forward, backward))
    assert worked("1F1B", stages, batches, forward, backward, sent) == (
        (batches + stages - 1) * (forward + backward),
        [min(batches, stages - stage) for stage in range(stages)])


@given(**COUNTS, **TIMES, sent=st.integers(0, 16))
def test_forward_and_backward_at_once(stages, batches, forward, backward, sent):
    assume(sent <= forward + backward)
    assert worked("FBP", stages, batches, forward, backward, sent) == (
        (batches + 2 * stages - 1) * (forward + backward),
        [min(batches, 2 * (stages - stage)) for stage in range(stages)])


@given(**COUNTS, **TIMES)
def test_all_forward_first(stages, batches, forward, backward):
    assert worked("GPipe", stages, batches, forward, backward, 0) == (
        (batches + stages - 1) * (forward + backward), [batches] * stages)


@given(**COUNTS, **TIMES, sent=st.integers(0, 8))
def test_transfers_after_computing(stages, batches, forward, backward, sent):
    assume(2 * sent <= forward + backward)
    full = (batches + stages - 1) * (forward + backward)
    trips = batches + stages - 2 - math.ceil((batches - 1) / stages)
    seconds, peaks = worked("SNO", stages, batches, forward, backward, sent)
    assert seconds == full + 2 * sent * max(trips, 0) * (stages > 1)
    assert peaks == [min(batches, stages - stage) for stage in range(stages)]
    seconds, peaks = worked("SO", stages, batches, forward, backward, sent)
    assert seconds == full + 2 * sent * (stages - 1)
    assert all(peak <= 2 * (stages - stage) - 1 for stage, peak in enumerate(peaks))
    assert worked("paths", stages, batches, forward, backward, sent)[0] == seconds


@pytest.mark.parametrize(("name", "sent", "settings", "seconds"), [
    ("SO", 3, {}, (60, 93, 201)),  # bound by the link
    ("SNO", 3, {}, (81, 141, 321)),
    ("1F1B", 1.5, {}, (37, 64, 134)),
    ("FBP", 0, {"held": True}, (66, 114, 234)),
])
def test_times_that_no_formula_gives(name, sent, settings, seconds):
    for (stages, batches), expected in zip(((4, 8), (4, 16), (8, 32)), seconds, strict=True):
        held = {"in_flight": range(stages, 0, -1)} if settings else {}
        assert worked(name, stages, batches, 1, 2, sent, **held)[0] == expected


#: Seconds of a transfer, if there is one.
TRANSFERS = st.none() | st.integers(0, 4)


@st.composite
def pipelines(draw):
    """Directed graphs of stages, some of them with several boards."""
    count = draw(st.integers(1, 6))
    stages = tuple(Stage(name=f"stage {number}", forward=draw(st.integers(1, 4)),
                         backward=draw(st.integers(1, 4)),
                         boards=tuple(f"board {number}.{one}"
                                      for one in range(draw(st.integers(1, 3)))))
                   for number in range(count))
    return Pipeline(stages, tuple(
        Edge(source=source, target=target, forward=draw(TRANSFERS), backward=draw(TRANSFERS),
             latency=draw(st.integers(0, 2)), forward_ports=(f"out of {source}", f"into {target}"),
             backward_ports=(f"out of {target}", f"into {source}"))
        for target in range(1, count)
        for source in sorted(draw(st.sets(st.integers(0, target - 1), min_size=1, max_size=2)))))


#: Several boards in the middle, that have in flight together what one board would have.
_SHARED = Pipeline.chain([Stage(name="", forward=1, backward=1, boards=tuple(map(str, boards)))
                          for boards in ([0], [1, 2, 3], [4], [5], [6])])


@example(_SHARED, 9, "1F1B", False)
@example(_SHARED, 9, "paths", False)
@given(pipelines(), st.integers(1, 7), st.sampled_from(sorted(SCHEDULES)), st.booleans())
def test_any_pipeline_is_worked_off_in_order(pipeline, batches, name, waits):
    waiting = {board for stage in pipeline.stages for board in stage.boards} if waits else ()
    schedule = SCHEDULES[name]
    timeline = run(pipeline, schedule, batches, waiting=waiting)
    computed = {(interval.stage, interval.direction, interval.micro_batch): interval
                for interval in timeline.intervals if not interval.transfer}
    assert len(computed) == 2 * batches * len(pipeline.stages)
    for stage, _ in enumerate(pipeline.stages):
        for batch in range(batches):
            there, back = (computed[stage, way, batch] for way in (FORWARD, BACKWARD))
            assert there.end <= back.begin
            assert there.track == back.track
    for edge in pipeline.edges:
        for batch in range(batches):
            for way in (FORWARD, BACKWARD):
                source, target = edge.ends(way == FORWARD)
                seconds = edge.seconds(way == FORWARD)
                if seconds is None:
                    continue
                sender, receiver = (computed[one, way, batch] for one in (source, target))
                first = sender.begin if schedule.hidden else sender.end
                assert receiver.begin >= max(sender.end, first + seconds + edge.latency)
    limits = schedule.in_flight(pipeline, batches)
    for stage, peak, limit in zip(pipeline.stages, timeline.peaks, limits, strict=True):
        assert peak <= min(limit, math.ceil(batches / len(stage.boards)))
    slowest = max((stage.forward + stage.backward) * (batches // len(stage.boards))
                  for stage in pipeline.stages)
    assert timeline.seconds >= slowest


def test_what_is_needed_first_is_sent_first():
    """A stage that several read, or that several gave to, sends to the next one first."""
    pipeline = Pipeline(tuple(Stage(name=name, forward=1, backward=1, boards=(name,))
                              for name in "abc"), tuple(
        Edge(source=source, target=target, forward=1, backward=1,
             forward_ports=(f"out of {source}",), backward_ports=(f"out of {target}",))
        for source, target in ((0, 2), (0, 1), (1, 2))))
    sent = [(interval.direction, interval.stage, interval.begin)
            for interval in run(pipeline, SCHEDULES["SNO"], 1).intervals if interval.transfer]
    computed = {(interval.direction, interval.track): interval.begin
                for interval in run(pipeline, SCHEDULES["SNO"], 1).intervals
                if not interval.transfer}
    assert (FORWARD, 0, 1) in sent and (FORWARD, 0, 2) in sent
    assert computed[FORWARD, "b"] == 2
    assert computed[BACKWARD, "b"] == computed[BACKWARD, "c"] + 2


def test_what_does_not_cross_takes_no_port():
    one_way = Edge(source=0, target=1, forward=2, backward=None, latency=5,
                   backward_ports=("used",))
    pipeline = Pipeline((Stage(name="a", forward=1, backward=1, boards=("a",)),
                         Stage(name="b", forward=1, backward=1, boards=("b",))), (one_way,))
    timeline = run(pipeline, SCHEDULES["SNO"], 1)
    assert timeline.seconds == 1 + 2 + 5 + 1 + 1
    assert [one.direction for one in timeline.intervals if one.transfer] == [FORWARD]
    assert pipeline.period == 2


def test_boards_that_wait_compute_nothing_while_they_send():
    pipeline = Pipeline.chain([Stage(name=name, forward=1, backward=1, boards=(name,))
                               for name in "ab"], [1])
    assert run(pipeline, SCHEDULES["SNO"], 6, waiting=("a", "b")).seconds > run(
        pipeline, SCHEDULES["SNO"], 6).seconds


def test_too_few_in_flight_are_a_circle():
    with pytest.raises(ValueError, match="in a circle"):
        worked("1F1B", 2, 4, 1, 1, 0, in_flight=[1, 2])
