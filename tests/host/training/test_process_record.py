# SPDX-License-Identifier: BSD-2-Clause
"""Processes of a run: what is kept of each, also of one that ends early, and damaged files."""

import json
from datetime import UTC

import pytest

from hypercast import Graph, Model, Trainer, __version__
from hypercast.host.training import process_record
from hypercast.host.training.process_record import ProcessRecord, Stopwatch, read_process_records
from hypercast.host.training.run_folder import RunError, RunFolder

ENTRY = {"command": "c", "begun": "2026-03-01T10:20:30+00:00", "version": "1", "device": "rtl",
         "first": 1, "last": 2, "seconds": 0.5}


def trainer(folder, **options):
    return Trainer(Graph.load("karate"), Model(hidden=2), run=folder, epochs=3, **options)


def test_a_process_that_ends_early(tmp_path):
    with trainer(tmp_path) as one:
        one.command = "a command"
        one.step()
        only, = RunFolder(tmp_path).process_records()
        assert only[:1] + only[2:] == ("a command", __version__, "reference", 1, None, None)
        one.step()
        assert RunFolder(tmp_path).process_records() == [only]  # it may be killed from now on
    only, = RunFolder(tmp_path).process_records()
    assert only.last == 2 and only.seconds > 0
    with trainer(tmp_path, resume=True) as one:
        one.fit()
        found = RunFolder(tmp_path).process_records()
    assert [(one.first, one.last) for one in found] == [(1, 2), (3, 3)]
    assert RunFolder(tmp_path).process_records() == found and found[1].command == ""


def test_a_run_that_is_only_used_has_no_record(tmp_path):
    with trainer(tmp_path) as one:
        one.fit()
    before = RunFolder(tmp_path).process_records()
    with Trainer.of_run(tmp_path, graph=Graph.load("karate")) as used:
        used.evaluate()
    with trainer(tmp_path, resume=True):
        pass
    assert RunFolder(tmp_path).process_records() == before


def test_an_epoch_that_fails_does_not_count():
    stopwatch = Stopwatch()
    with pytest.raises(OSError), stopwatch.running():
        raise OSError
    assert stopwatch.begun and stopwatch.seconds == 0


def test_epochs_take_what_they_take_together(monkeypatch):
    """Whatever is between them; the first one says when they began."""
    clock = iter([100.0, 103.5, 200.0, 200.25])
    monkeypatch.setattr(process_record.time, "monotonic", lambda: next(clock))
    stopwatch = Stopwatch()
    assert stopwatch.begun is None and stopwatch.seconds == 0
    with stopwatch.running():
        begun = stopwatch.begun
    assert stopwatch.seconds == 3.5
    with stopwatch.running():
        pass
    assert stopwatch.seconds == 3.75 and stopwatch.begun is begun and begun.tzinfo == UTC


@pytest.mark.parametrize("change", [
    {"first": (1 << 63) - 1, "last": (1 << 63) - 1}, {"seconds": 0}, {"seconds": 9e11},
    {"first": 2}, {"last": None, "seconds": None}, {"command": ""}])
def test_what_processes_can_have_done(tmp_path, change):
    path = tmp_path / "sessions.json"
    path.write_text(json.dumps([{**ENTRY, **change}]))
    assert read_process_records(path) == [ProcessRecord(**{**ENTRY, **change})]


@pytest.mark.parametrize(("content", "message"), [
    ({}, "it holds no list"), ([ENTRY, 3], "process 2 has not just command, begun, version,"),
    ([{**ENTRY, "first": 3}], "process 1 ends before it begins"),
    ([ENTRY, {**ENTRY, "first": 1 << 63}], "process 2, first is 9223372036854775808, no epoch"),
    ([{**ENTRY, "first": None}], "process 1, first is None, no epoch"),
    ([{**ENTRY, "seconds": 1e12}], "process 1, seconds is 1000000000000.0, no time"),
    ([{**ENTRY, "seconds": None}], "process 1 has just one of last and seconds"),
    ([{**ENTRY, "begun": "2026-03-01T10:20:30"}], "process 1, begun is 2026-03-01T10:20:30, with"),
    ([{**ENTRY, "device": 3}], "process 1, device is 3, no text")])
def test_what_is_wrong_with_a_record_is_said(tmp_path, content, message):
    path = tmp_path / "sessions.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        read_process_records(path)


@pytest.mark.parametrize("change", [
    {"first": 0}, {"first": 1.0}, {"first": True}, {"last": 0}, {"last": "2"}, {"seconds": -1},
    {"seconds": "1"}, {"seconds": True}, {"seconds": None}, {"last": None}, {"begun": "soon"},
    {"begun": "2026-03-01T10:20:30"}, {"begun": "2026-03-01T10:20:30+01:00"}, {"begun": 3},
    {"command": None}, {"version": 2}, {"device": []}, {"more": 1}, {"seconds": 1e300}])
def test_damaged_files(tmp_path, change):
    path = tmp_path / "sessions.json"
    path.write_text(json.dumps([ENTRY, {**ENTRY, "first": 2}]))
    assert read_process_records(path) == [
        ProcessRecord(**ENTRY), ProcessRecord(**{**ENTRY, "first": 2})]
    path.write_text(json.dumps([ENTRY, {**ENTRY, "first": 2, **change}]))
    with pytest.raises(ValueError):
        read_process_records(path)
    with pytest.raises(RunError, match=r"sessions\.json cannot be read \(.*remove it"):
        RunFolder(tmp_path).process_records()


def test_a_damaged_file_stops_a_run_before_it_goes_on(tmp_path):
    with trainer(tmp_path) as one:
        one.step()
    before = (tmp_path / "epochs.jsonl").read_bytes()
    (tmp_path / "sessions.json").write_text("{}")
    with pytest.raises(RunError, match="remove it"):
        trainer(tmp_path, resume=True)
    (tmp_path / "sessions.json").unlink()
    with trainer(tmp_path, resume=True) as one:
        one.step()
    assert (tmp_path / "epochs.jsonl").read_bytes().startswith(before)
