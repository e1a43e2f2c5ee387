# SPDX-License-Identifier: BSD-2-Clause
"""Command files of Surfer: lines, their order, and names that would end a command."""

import pytest

from hypercast.sim.surfer_commands import SurferCommands


def test_lines():
    commands = SurferCommands()
    commands.variables(["decoded.instruction"])
    commands.divider("core_0")
    commands.group("core_0.array")
    assert commands.text.splitlines() == [
        "variable_add decoded.instruction", "divider_add core_0",
        "scope_add_as_group core_0.array", "group_fold_all", "zoom_fit"]


@pytest.mark.parametrize("name", ["a b", "a#b", "a;b", "a\nb"])
def test_names_that_end_a_command(name):
    commands = SurferCommands()
    with pytest.raises(ValueError, match="ends a command of Surfer"):
        commands.variables([name])
    with pytest.raises(ValueError, match="ends a command of Surfer"):
        commands.group(name)
    with pytest.raises(ValueError, match="is not one word"):
        commands.divider(name)
