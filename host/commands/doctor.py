# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast doctor``: what is missing, and how to get it."""

import sys
from collections import defaultdict

import click

from hypercast.host.commands.options import json_option, print_json
from hypercast.host.commands.output import make_console, print_table

__all__ = ["doctor"]


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check this machine for what Hypercast needs.

    Exit status is 1 if something is missing without which no chip can be simulated.
    """
    from hypercast.host.commands.diagnosis import examine

    results = examine()
    if as_json:
        print_json([result._asdict() for result in results])
    else:
        print_table(make_console(), ("what", "for", "state", "found"), [
            (result.name, result.purpose, result.state, result.found) for result in results])
        remedies = defaultdict(list)
        for result in results:
            if result.remedy:
                remedies[result.remedy].append(result.name)
        for remedy, names in remedies.items():  # not in the table, which would break commands
            click.echo(f"{', '.join(names)}: {remedy}")
    if any(result.required and result.state != "ok" for result in results):
        sys.exit(1)
