# SPDX-License-Identifier: BSD-2-Clause
"""What a command is doing: a line on a terminal, lines now and then elsewhere."""

import io

import pytest
from rich.console import Console

from hypercast.host.commands import progress_text
from hypercast.host.commands.progress_text import ProgressText


@pytest.fixture
def clock(monkeypatch):
    """Seconds, as a list with one number that a test raises."""
    now = [100.0]
    monkeypatch.setattr(progress_text.time, "monotonic", lambda: now[0])
    return now


def test_lines_where_no_terminal_is(clock, capsys):
    with ProgressText("waiting") as progress:
        for second in range(12):
            clock[0] = 100.0 + second
            progress.update(f"[{second}] tried")
    output = capsys.readouterr()
    assert output.err.splitlines() == ["5 s: [5] tried", "10 s: [10] tried"]
    assert output.out == ""


def test_quick_commands_write_nothing(capsys):
    with ProgressText("waiting") as progress:
        progress.update("done")
    assert capsys.readouterr() == ("", "")


def test_one_of_several_processes_writes_nothing(clock, capsys):
    with ProgressText("waiting", lines=False) as progress:
        clock[0] += 60
        progress.update("tried")
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_one_line(clock, capsys):
    terminal = io.StringIO()
    with ProgressText("waiting", Console(file=terminal, force_terminal=True,
                                           force_interactive=True, width=60)) as progress:
        clock[0] += 60
        progress.update("[5] tried")
        progress.stop()
    assert "[5] tried" in terminal.getvalue()
    assert capsys.readouterr() == ("", "")
