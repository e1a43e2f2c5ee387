# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast bench`` in a checkout: measures the project's claims."""

import sys
from pathlib import Path

import click

from hypercast import benches
from hypercast.host.commands.number_types import WholeRange
from hypercast.host.commands.options import json_option, print_json
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.commands.progress_text import ProgressText

__all__ = ["bench"]


def _text(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


@click.command()
@click.argument("name", required=False, type=click.Choice(list(benches.BENCHES)))
@click.option("--data", type=click.Path(path_type=Path), envvar="HYPERCAST_CORA",
              help="Folder with the Planetoid files ind.cora.* (or set HYPERCAST_CORA).")
@click.option("--seed", type=WholeRange(0), metavar="N",
              help=f"Draw others at random; {', '.join(benches.SEEDED)} only.  [default: 0]")
@json_option
def bench(name: str | None, data: Path | None, seed: int | None, as_json: bool) -> None:
    """Measure what is claimed: figures, bars and verdicts.

    Exit status is 1 if a bar is missed. Without NAME, list the benches.
    """
    if name is None:
        if as_json:
            print_json(benches.BENCHES)
            return
        width = max(map(len, benches.BENCHES))
        for entry, text in benches.BENCHES.items():
            click.echo(f"{entry:{width}} {text}")
        return
    if seed is not None and name not in benches.SEEDED:
        raise click.BadOptionUsage("seed", f"bench {name} draws nothing at random; leave --seed "
                                           f"out, or take one of {', '.join(benches.SEEDED)}")
    with ProgressText(name) as progress:
        figures = benches.run(name, data=data, seed=seed,
                              progress=lambda text: progress.update(f"{name}: {text}"))
    if as_json:
        print_json([figure.to_dict() for figure in figures])
    else:
        print_table(make_console(), ("figure", "value", "unit", "bar", "verdict"), [
            (figure.name, _text(figure.value), figure.unit,
             "" if figure.bar is None else f"{figure.relation} {_text(figure.bar)}",
             figure.verdict) for figure in figures], name)
    if not all(figure.passed for figure in figures):
        sys.exit(1)
