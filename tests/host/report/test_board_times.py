# SPDX-License-Identifier: BSD-2-Clause
"""The boards of a cluster in a report."""

import json

import pytest

from hypercast.host.processes.clock import BusyInterval
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.report.folder import load_run
from hypercast.host.report.page import page
from hypercast.host.training.run_folder import RunError, RunFolder
from tests.host.report.test_page import keep

TIME = VirtualTime(
    steps=4, boards=("a<b", "c"), seconds=2e-3, computed=(1e-3, 0.5e-3), waited=(1e-3, 1.5e-3),
    alone=3e-3, intervals=(BusyInterval("a<b", "forward 1", 1e-3, 1.5e-3),
                           BusyInterval("c, out", "sum", 1.5e-3, 2e-3)))


@pytest.fixture
def folder(tmp_path):
    keep(tmp_path, chip=False)
    RunFolder(tmp_path).boards(TIME)
    return tmp_path


def test_what_is_kept_is_read_and_shown(folder):
    run = load_run(folder)
    assert run.boards == TIME
    text = page(run)
    assert "<h2>Boards</h2>" in text and "1.50 times as fast as a&lt;b alone" in text
    assert "<td>a&lt;b</td><td>50.0%</td><td>50.0%</td>" in text


def test_names_are_no_formulas(folder):
    path = folder / "boards.json"
    path.write_text(path.read_text().replace("a<b", r"$\\frac$"))
    assert r">$\frac$</text>" in page(load_run(folder))


@pytest.mark.parametrize(("change", "message"), [
    ({"steps": 0}, "steps is 0, not above 0"), ({"waited": [1.0]}, "are not of as many boards"),
    ({"slots": [["c", "sum", 2, 1]]}, "slot 1 ends before it begins"),
    ({"computed": [None, 1.0]}, "time 1 is None, no number"), ({"more": 1}, "has not just steps"),
])
def test_a_damaged_file_is_refused(folder, change, message):
    path = folder / "boards.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RunError, match=message):
        load_run(folder)
