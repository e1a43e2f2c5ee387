# SPDX-License-Identifier: BSD-2-Clause
"""The line that changes in a notebook, with as much of IPython as it takes."""

import sys
import time
import types

import pytest

from hypercast.host.training import notebook
from hypercast.host.training.notebook import show_in_notebook


@pytest.fixture
def shell(monkeypatch):
    """A notebook: its cell, what is displayed there, and the time."""
    found = types.SimpleNamespace(kernel=object(), execution_count=1, shown=[], now=0.0)

    def display(bundle, *, raw, display_id):
        line = [bundle["text/plain"]]
        found.shown.append(line)
        return types.SimpleNamespace(
            update=lambda bundle, raw: line.append(bundle["text/plain"]))

    ipython = types.SimpleNamespace(get_ipython=lambda: found,
                                    display=types.SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setattr(time, "monotonic", lambda: found.now)
    monkeypatch.setattr(notebook, "_lines", [])
    return found


def test_a_cell_has_one_line(shell):
    for number in range(3):
        shell.now += 1
        show_in_notebook(f"{number}")
    shell.execution_count = 2
    show_in_notebook("other")
    assert shell.shown == [["0", "1", "2"], ["other"]]


def test_lines_that_come_too_fast_are_left_out_but_the_last(shell):
    for number in range(100):
        shell.now += 0.03
        show_in_notebook(f"{number}", last=number == 99)
    [line] = shell.shown
    assert line[0] == "0" and line[-1] == "99" and 20 < len(line) < 40


def test_elsewhere_nothing_is_shown(shell, capsys, monkeypatch):
    del shell.kernel  # a shell in a terminal
    show_in_notebook("text")
    monkeypatch.delitem(sys.modules, "IPython")
    show_in_notebook("text")
    assert not shell.shown and capsys.readouterr().out == ""
