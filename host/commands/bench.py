# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast bench``: the one door to the benches, which only a checkout has."""

import importlib
from importlib.util import find_spec

import click

__all__ = ["bench"]

_BENCHES = "hypercast.benches"


@click.command("bench", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def _no_benches(arguments: tuple[str, ...]) -> None:
    """Measure what is claimed, in a checkout of the project; this is none."""
    raise click.ClickException(
        "the benches are in the project's checkout, not in the installed package; get one, run "
        "make setup there, then .venv/bin/hypercast bench")


#: The command of the checkout, or what says that there is none.
bench: click.Command = _no_benches if find_spec(_BENCHES) is None else \
    importlib.import_module(f"{_BENCHES}.bench_command").bench
