# SPDX-License-Identifier: BSD-2-Clause
"""Command files of the viewer Surfer, which list the signals of a waveform file to show.

The commands are documented by Surfer 0.4 and later (docs/commands/README.md of its sources). A line
is a command. ``#`` begins a comment, and ``;`` ends a command, so no name may contain them.
"""

import re
from collections.abc import Iterable

from hypercast.errors import InputError

__all__ = ["SurferCommands"]

#: The name of a divider, for Surfer: one word.
_WORD = re.compile(r"\w+")
#: Ends of a command, or of a line of commands.
_END = re.compile(r"[#;\s]")


class SurferCommands:
    """The text of a command file, line by line.

    Names are the waveform file's: scopes and the signal, joined by dots, without bits.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []

    def divider(self, name: str) -> None:
        """Show a line with a name.

        Raises
        ------
        InputError
            If the name is not one word of letters, digits and underscores.
        """
        if not _WORD.fullmatch(name):
            raise InputError(f"the divider's name {name!r} is not one word, which is all that "
                             f"Surfer takes; use letters, digits and underscores")
        self._lines.append(f"divider_add {name}")

    def variables(self, names: Iterable[str]) -> None:
        """Show signals.

        Raises
        ------
        InputError
            If a name would end the command.
        """
        self._lines += [f"variable_add {_check(name)}" for name in names]

    def group(self, scope: str) -> None:
        """Show a closed group of all signals that are in a scope itself, named as the scope.

        Raises
        ------
        InputError
            If the name would end the command.
        """
        self._lines.append(f"scope_add_as_group {_check(scope)}")

    @property
    def text(self) -> str:
        """The file: added signals, groups closed, all cycles in view."""
        return "\n".join([*self._lines, "group_fold_all", "zoom_fit", ""])


def _check(name: str) -> str:
    if _END.search(name):
        raise InputError(f"the name {name!r} has a character that ends a command of Surfer; use "
                         f"names without spaces, # and ;")
    return name
