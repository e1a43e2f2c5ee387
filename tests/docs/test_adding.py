# SPDX-License-Identifier: BSD-2-Clause
"""The page of what to change: an example of a thing is in no file that the page does not list."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", (ROOT / "docs/adding.md").read_text(),
                           re.MULTILINE | re.DOTALL))
PATHS = re.compile(r"`([a-z]\w*/[\w/.]*)`")
#: What code of the project lies in; benches and tests try examples of their own.
FOLDERS = ("boards", "host", "reference", "rtl", "sim")


def files_with(pattern):
    """Files of the source in whose code, not their comments, a pattern is found."""
    return {path.relative_to(ROOT).as_posix() for folder in FOLDERS
            for path in (ROOT / folder).rglob("*.py")
            if re.search(pattern, re.sub(r"(?m)#.*$", "", path.read_text()))}


@pytest.mark.parametrize(("section", "example", "others"), [
    # A model's name; its title is text for people.
    ("A model", r'"mixhop"', ()),
    # Which messages name as an example.
    ("A data set", r"\bmusae\b", ()),
    # That area is measured for, and of which clusters are made.
    ("A board", r'"ulx3s"', ("host/cluster/description.py", "host/eda/area_fit.py")),
    ("A performance counter", r'"array_words"', ()),
    # The engine's blocks; and the compiler has one file that emits, one that looks for halts.
    ("An instruction", r"\bOpcode\.LOSS\b", ("rtl/vector/", "host/compiler/")),
])
def test_files_are_listed(section, example, others):
    listed = {*PATHS.findall(SECTIONS[section]), *others}
    found = files_with(example)
    assert found, f"{example} is nowhere; choose another example"
    missing = {file for file in found
               if not any(file == one or (one.endswith("/") and file.startswith(one))
                          for one in listed)}
    assert not missing, f"'{section}' does not list {', '.join(sorted(missing))}"


def test_what_is_asked_for_is_there():
    assert {"An instruction", "A network layer", "A readout", "A scheme", "A strategy", "A board",
            "A data set", "A number format"} <= SECTIONS.keys()
