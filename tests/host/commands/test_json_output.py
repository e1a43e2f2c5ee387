# SPDX-License-Identifier: BSD-2-Clause
"""Every command speaks JSON: one document, or one a line, and nothing else on standard output."""

import json
import math
from pathlib import Path

import click
import pytest

from hypercast.host.cli import main
from hypercast.host.commands.options import print_json
from tests.host.test_cli import run

#: Commands to arguments that take no time.
QUICK = {
    "area": ("--family", "ecp5", "--estimate"), "bench": (), "config list": (), "config show": (),
    "doctor": (), "evaluate": ("{run}",), "examples": ("{new}",),
    "export": ("{run}", "-o", "{new}.safetensors"), "model": ("karate", "--layers", 4),
    "numbers": ("{run}",), "plan": ("karate", "--cluster", "u50-4"),
    "predict": ("{run}", "-o", "{new}.csv"), "report": ("{run}",),
    "train": ("karate", "--epochs", 2, "--hidden", 2),
}
#: Others to the tests beside this one.
SLOW = {"build": "test_build.py", "explore": "test_explore.py", "noc": "test_noc.py",
        "selftest": "test_selftest.py", "simulate": "test_simulate.py",
        "verify": "test_verify.py", "verilog": "../test_cli.py"}


def leaves(group=main, *above):
    """All commands that do something: name, as it is typed, to the command."""
    found = {}
    for name, command in group.commands.items():
        found |= leaves(command, *above, name) if isinstance(command, click.Group) else {
            " ".join((*above, name)): command}
    return found


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "run"
    run("train", "karate", "--epochs", 2, "--hidden", 2, "--run", folder)
    return folder


def test_all_commands_are_here():
    assert {*QUICK} | {*SLOW} == {*leaves()}
    for command, file in SLOW.items():
        text = (Path(__file__).parent / file).read_text()
        assert '"--json"' in text and "json.loads" in text, command


@pytest.mark.parametrize("name", leaves())
def test_every_command_takes_json(name):
    assert any("--json" in parameter.opts for parameter in leaves()[name].params)


@pytest.mark.parametrize("name", QUICK)
def test_nothing_else_is_printed(name, kept, tmp_path):
    arguments = [str(argument).format(run=kept, new=tmp_path / "new") for argument in QUICK[name]]
    result = run(*name.split(), *arguments, "--json")
    lines = result.stdout.splitlines()
    assert lines and result.stdout.endswith("\n")
    for line in lines:
        json.loads(line, parse_constant=pytest.fail)
    assert len(lines) == 1 or name == "train"
    told = json.loads(lines[0])
    for file in [told["file"]] if "file" in told else told["files"] if "files" in told else []:
        assert Path(file).is_file()


def test_what_is_no_finite_number_is_null(capsys):
    print_json({"a": [1.5, math.nan, (math.inf, "é")], "b": {"c": -math.inf, "d": True}})
    text = capsys.readouterr().out
    assert json.loads(text, parse_constant=pytest.fail) == {
        "a": [1.5, None, [None, "é"]], "b": {"c": None, "d": True}}
