# SPDX-License-Identifier: BSD-2-Clause
"""The page begins with the result, and with when, how and where it was reached."""

import re
from dataclasses import replace
from html import unescape

import pytest

from hypercast import __version__
from hypercast.host.report.folder import load_run
from hypercast.host.report.page import page
from hypercast.host.report.summary import result, settings
from hypercast.host.training.process_record import ProcessRecord
from tests.host.report.test_page import keep
from tests.host.test_cli import run

RECORD = ProcessRecord("hypercast train <a> --seed 1", "2026-03-01T10:20:30+00:00", "0.3.0", "rtl",
                       1, 2, 7.25)


def cells(html):
    """Rows of tables: their cells."""
    rows = re.findall(r"<tr>(.*?)(?=<tr>|</table>)", html)
    return [[unescape(cell) for cell in re.findall(r"<t[hd]>([^<]*)", row)] for row in rows]


def facts(html):
    return {row[0]: row[1] for row in cells(html) if len(row) == 2}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    keep(folder)
    return load_run(folder)


def test_the_result_comes_first(kept):
    one = replace(kept, processes=[RECORD])
    found = facts(result(one))
    assert [*found] == ["accuracy", "loss", "epochs", "saturations", "recorded step", "device",
                        "command", "date", "duration of training", "version"]
    assert found["accuracy"] == "validation 25.0%, train 50.0%"  # no vertex to test on
    assert found["loss"] == "validation 2.0000, train 1.0000"
    assert found["epochs"] == "2"
    assert found["recorded step"].startswith(f"epoch 2: {kept.cycles:,} cycles, ")
    assert found["device"].startswith("rtl: ")
    assert (found["command"], found["date"], found["duration of training"], found["version"]) == (
        RECORD.command, "2026-03-01 10:20:30 UTC", "7.25 s", "0.3.0")
    text = page(one)
    assert text.index("validation 25.0%") < text.index("<h2>Loss and accuracy")


def test_the_result_is_of_the_weights_that_are_kept(kept):
    better = {**kept.epochs[0], "validation_accuracy": 0.75}
    found = facts(result(replace(kept, epochs=[better, *kept.epochs[1:]], best=1)))
    assert found["accuracy"] == "validation 75.0%, train 50.0%"
    assert found["epochs"] == "2; the weights are those of epoch 1"


@pytest.mark.parametrize(("seconds", "text"), [
    (0.0312, "0.0312 s"), (59.94, "59.9 s"), (61, "1 min 1 s"), (119.8, "2 min 0 s"),
    (3599.7, "1 h 0 min"), (3600 * 27 + 125, "27 h 2 min"),
    (None, "not known: the process was killed")])
def test_durations(seconds, text, kept):
    found = facts(result(replace(kept, processes=[RECORD._replace(seconds=seconds)])))
    assert found["duration of training"] == text


def test_all_processes(kept):
    killed = RECORD._replace(last=None, seconds=None, command="")
    rows = cells(result(replace(kept, processes=[killed, RECORD._replace(first=2)])))
    assert rows[-2][1:3] == ["1 to ?", "not known: the process was killed"]
    assert rows[-2][-1] == "from Python" and rows[-1][1] == "2 to 2"


def test_every_setting_has_a_row(kept):
    found = facts(settings(kept))
    assert {name.replace("_", " ") for name in (*kept.facts, *kept.config.to_dict())} - {
        "device"} == {*found}
    assert (found["features"], found["adam"]) == ("5, 4, 3", "yes" if kept.config.adam else "no")


def test_what_a_training_keeps(tmp_path):
    """The command as it was typed, and another one that went on."""
    options = ("--hidden", 2, "--seed", 3, "--run", tmp_path / "a run")
    run("train", "karate", *options, "--epochs", 2)
    first, = load_run(tmp_path / "a run").processes
    assert first.command == f"hypercast train karate --hidden 2 --seed 3 --run " \
                            f"'{tmp_path / 'a run'}' --epochs 2"
    assert first[2:6] == (__version__, "reference", 1, 2)
    assert 0 < first.seconds < 600
    run("train", "--run", tmp_path / "a run", "--resume", "--epochs", 3)
    again, second = load_run(tmp_path / "a run").processes
    assert again == first and (second.first, second.last) == (3, 3)
    shown = (tmp_path / "a run" / "report.html").read_text()
    assert "--resume --epochs 3" in shown and "--seed 3" in shown
    run("train", "karate", *options, "--epochs", 1)
    only, = load_run(tmp_path / "a run").processes
    assert only.last == 1
