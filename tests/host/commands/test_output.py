# SPDX-License-Identifier: BSD-2-Clause
"""Tables and sentences: whole wherever they go, and without escape codes where no terminal is."""

import io
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from hypercast.host.commands import output
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.processes.launcher_variables import Started
from tests.packaging.source_tree import ROOT, modules

_WORDS = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1)
_TEXTS = st.lists(_WORDS, min_size=1, max_size=4).map(" ".join)
_NUMBERS = st.one_of(
    st.integers(-10**12, 10**12).map("{:,}".format), st.floats(0, 1).map("{:.1%}".format),
    st.floats(allow_nan=False, allow_infinity=False).map("{:.4g}".format))


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def _console(width=None):
    """A console of a terminal so wide, or else of a file, and what is written to it."""
    file = io.StringIO()
    if width:
        return Console(file=file, width=width, soft_wrap=True, markup=False, emoji=False,
                       highlight=False, force_terminal=True, color_system=None), file
    console = make_console()
    console.file = file
    return console, file


def _rows(text, columns):
    """The cells of a table's text: what is printed in a column, row by row, without its breaks."""
    found = [[""] * columns]
    for line in text.splitlines():
        if line.startswith(("├", "└", "┡", "╞", "┏")):
            found.append([""] * columns)
        elif line.startswith(("│", "┃")):
            cells = re.split("[│┃]", line)[1:-1]
            assert len(cells) == columns
            found[-1] = [before + cell.replace(" ", "")
                         for before, cell in zip(found[-1], cells, strict=True)]
    return [row for row in found if any(row)]


@given(st.lists(st.tuples(_TEXTS, _NUMBERS, _NUMBERS), min_size=1, max_size=4), _TEXTS,
       st.one_of(st.none(), st.integers(5, 120)))
def test_nothing_of_a_table_is_cut(rows, head, width):
    console, file = _console(width)
    ruled = [part for row in rows for part in (row, None)]
    print_table(console, (head, "count", "share"), ruled, "[a title] :smile:")
    text = file.getvalue()
    assert "[a title] :smile:" in text
    expected = [[cell.replace(" ", "") for cell in row]
                for row in ((head, "count", "share"), *rows)]
    assert _rows(text, 3) == expected
    for row in rows:
        assert all(re.search(rf"(?<!\S){re.escape(number)}(?!\S)", text) for number in row[1:])
        assert width or row[0] in text
    if width is None:
        assert len(text.splitlines()) == 4 + 2 * len(rows)  # a line for each row


def test_numbers_are_at_the_right():
    console, file = _console()
    print_table(console, ("what", "n"), [("one", "1"), ("many", "12,345")])
    assert "│ one  │      1 │" in file.getvalue()


@pytest.mark.parametrize("length", [10, 79, 81, 5000])
@pytest.mark.parametrize("width", [None, 40])
def test_sentences_are_one_line(length, width):
    sentence = ("[bold]word :smile: " * length)[:length].strip()
    console, file = _console(width)
    console.print(sentence)
    assert file.getvalue() == f"{sentence}\n"


@pytest.mark.parametrize(("variables", "terminal", "live"), [
    ({}, True, True), ({}, False, False), ({"FORCE_COLOR": "1"}, False, False),
    ({"TERM": "dumb"}, True, False), ({"TERM": "unknown"}, True, False),
    ({"NO_COLOR": "1"}, True, False), ({"NO_COLOR": ""}, True, True),
    ({"CI": "true"}, True, False), ({"CI": "false"}, True, True),
    ({"TTY_COMPATIBLE": "1"}, False, True), ({"TTY_COMPATIBLE": "0"}, True, False),
    ({"CI": "1", "TTY_COMPATIBLE": "1"}, True, False),
])
@pytest.mark.parametrize("errors", [False, True])
def test_escape_codes_are_for_terminals(variables, terminal, live, errors, monkeypatch):
    for name in ("CI", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", "COLUMNS": "60", **variables}.items():
        monkeypatch.setenv(name, value)
    stream = _Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr" if errors else "stdout", stream)
    console = make_console(errors=errors)
    with console.status("waiting"):
        console.print("done", style="red")
    assert ("\x1b" in stream.getvalue()) == console.is_interactive == live
    assert (console.width == 60) == live
    if not live:
        assert stream.getvalue() == "done\n"


@pytest.mark.parametrize("columns", ["0", "000"])
def test_no_columns_are_those_of_the_terminal(columns, monkeypatch):
    for name in ("CI", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", _Terminal())
    console = make_console()
    assert console.is_interactive and console.width > 1
    print_table(console, ["head"], [["text"]])
    assert "text" in sys.stdout.getvalue()


def test_what_mpirun_prints_is_a_log(monkeypatch):
    """It gives processes a terminal even where what they print goes to a file."""
    for name in ("CI", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", _Terminal())
    assert make_console().is_interactive
    monkeypatch.setattr(output, "find_start", lambda: Started(0, 2, "PMI_SIZE"))
    assert not make_console().is_interactive
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # as launcher sets it
    assert make_console().is_interactive


def test_consoles_and_tables_are_made_in_one_place():
    """Others get a console; only progress has its own ways to write to it."""
    texts = {path.stem: (ROOT / path).read_text() for path in modules("host")}
    assert {name for name, text in texts.items() if re.search(
        r"(from|import) rich(\.(?!console import Console\n)|\b(?!\.))", text)} == {
        "output", "progress_text"}
    assert [name for name, text in texts.items() if re.search(r"\bConsole\(", text)] == ["output"]


def test_wide_letters():
    console, file = _console()
    print_table(console, ("名前", "n"), [("漢字", "1")])
    assert len({cell_len(line) for line in file.getvalue().splitlines()}) == 1
