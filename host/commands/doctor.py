"""``hypercast doctor``: what is missing, and how to get it."""

import sys
from collections import defaultdict

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hypercast.host.commands.options import json_option, print_json

__all__ = ["doctor"]


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check this machine for what Hypercast needs; exit status 1 if something is missing."""
    from hypercast.host.commands.diagnosis import examine

    results = examine()
    if as_json:
        print_json([result._asdict() for result in results])
    else:
        table = Table("what", "for", "state", "found")
        remedies = defaultdict(list)
        for result in results:
            table.add_row(result.name, result.purpose, result.state, escape(result.found))
            if result.remedy:
                remedies[result.remedy].append(result.name)
        Console().print(table)
        for remedy, names in remedies.items():  # not in the table, which would break commands
            click.echo(f"{', '.join(names)}: {remedy}")
    if any(result.required and result.state != "ok" for result in results):
        sys.exit(1)
