# SPDX-License-Identifier: BSD-2-Clause
"""Pages: trainings and plans of bundled graphs run as they are written, one after another."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
#: Commands, and what of them needs a board, or files that only the reader has.
COMMANDS = re.compile(r"hypercast (train|plan|evaluate|predict|export|numbers|report) ")
ELSEWHERE = re.compile(r"path/to|NAME|serial|xdma|mapped|--preset vcu128")
MAIN = "from hypercast.host.cli import main; main()"


def commands(page):
    """What a page's console blocks run, without comments, pipes and what goes to files."""
    for block in CONSOLE.findall(page.read_text()):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            if line.startswith("$ ") and COMMANDS.match(line[2:]) and not ELSEWHERE.search(line):
                yield re.split(r" [|>] ", line[2:])[0]


def begun(page):
    """Commands of a page, if the first one needs nothing that was there before."""
    found = list(commands(page))
    return found[next((number for number, command in enumerate(found)
                       if re.search(r"karate|blocks|examples/|--vertices", command)), len(found)):]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", [page for page in PAGES if begun(page)],
                         ids=lambda page: page.stem)
def test_commands_run(page, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    shutil.copy(ROOT / "examples" / "karate.toml", tmp_path)  # as the tutorial has it typed in
    (tmp_path / "build").mkdir()  # what pages have made before, by other commands
    for command in begun(page):
        arguments = shlex.split(command, comments=True)[1:]
        found = subprocess.run([sys.executable, "-c", MAIN, *arguments], cwd=tmp_path,
                               capture_output=True, text=True, env=dict(os.environ))
        assert found.returncode == 0, f"{command}: {found.stderr[-500:]}"


def test_there_are_some():
    assert sum(len(begun(page)) for page in PAGES) > 20
