# SPDX-License-Identifier: BSD-2-Clause
"""Options under headings, for commands that have many."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

__all__ = ["CommandWithGroups"]

_OTHERS = "Options"


class CommandWithGroups(click.Command):
    """A command whose help lists options by group, in the order in which groups come first.

    Parameters
    ----------
    groups : dict
        Heading of each group to its options, such as ``"--run"``. Others are under "Options".
    """

    def __init__(self, *arguments: Any, groups: Mapping[str, Sequence[str]],
                 **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.headings = {flag: heading for heading, flags in groups.items() for flag in flags}

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context)
            if record and isinstance(parameter, click.Option):
                heading = self.headings.get(parameter.opts[0], _OTHERS)
                groups.setdefault(heading, []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)
