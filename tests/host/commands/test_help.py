# SPDX-License-Identifier: BSD-2-Clause
"""Help: uncut at 80 columns, options in groups; and completion in shells."""

import re

import click
import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.commands.option_groups import CommandWithGroups
from tests.host.commands.test_json_output import leaves


def help_of(*command, columns=80):
    result = CliRunner(env={"COLUMNS": str(columns)}).invoke(
        main, [*command, "--help"], terminal_width=columns)
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("command", [(), ("config",)])
def test_summaries_are_whole(command):
    text = help_of(*command)
    assert all(len(line) <= 80 for line in text.splitlines()) and "..." not in text.partition(
        "Commands:")[2]
    group = main.commands["config"] if command else main
    for name, one in group.commands.items():
        [summary] = re.findall(rf"^  {name} +(.*)$", text, re.MULTILINE)
        assert summary.endswith(".") and summary == one.help.partition("\n\n")[0].strip()


@pytest.mark.parametrize("name", leaves())
def test_every_option_says_what_it_is(name):
    """Or its name and its range do."""
    plain = {"--seed", "--dimensions", "--planes"}
    for option in leaves()[name].params:
        if isinstance(option, click.Option) and not plain & {*option.opts}:
            assert option.help, option.opts
    text = help_of(*name.split())
    assert "RANGE" not in text and "inf" not in re.findall(r"\[[^\]]*<[^\]]*\]", text)


@pytest.mark.parametrize("name", ["train", "plan", "explore"])
def test_options_are_in_groups(name):
    command = leaves()[name]
    text = help_of(name)
    heads = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert len(heads) == len({*heads})
    assert {"Graph", "Model", "Recipe", "Samples", "Early stopping", "Device",
            "Options"} <= {*heads}
    if name == "train":
        assert {"Run", "Checking and recording", "Several boards"} <= {*heads}
        others = text.partition("\nOptions:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^  (-\S+)", others, re.MULTILINE) == ["--json", "-h,"]
    shown = re.findall(r"^  (?:-\w, )?(--?[\w-]+)", text, re.MULTILINE)
    flags = [option.opts[-1] for option in command.params if isinstance(option, click.Option)]
    assert sorted(shown) == sorted([*flags, "--help"])  # each once


def test_groups_name_options_that_there_are():
    for command in leaves().values():
        if isinstance(command, CommandWithGroups):
            flags = {flag for option in command.params for flag in option.opts}
            assert {*command.headings} <= flags


@pytest.mark.parametrize(("shell", "words"), [
    ("bash", "complete -o nosort -F _hypercast_completion hypercast"),
    ("zsh", "#compdef hypercast"), ("fish", "complete --no-files --command hypercast")])
def test_completion(shell, words):
    """What the tutorial has users put into their shell's file, and what the shell asks then."""
    def ask(instruction, **variables):
        result = CliRunner().invoke(main, prog_name="hypercast", env={
            "_HYPERCAST_COMPLETE": instruction, **variables})
        assert result.exit_code == 0
        return result.stdout
    assert words in ask(f"{shell}_source")
    if shell == "bash":
        assert ask("bash_complete", COMP_WORDS="hypercast eva", COMP_CWORD="1") == \
            "plain,evaluate\n"
        assert "plain,gcnii" in ask("bash_complete", COMP_WORDS="hypercast train --model gc",
                                    COMP_CWORD="3").split()
