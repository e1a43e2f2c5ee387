# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast examples``: the examples, to be tried and changed."""

import importlib.resources
import shutil
import tempfile
from pathlib import Path

import click

from hypercast.host.commands.options import json_option, print_json

__all__ = ["examples"]

#: What is of the package, or was made there by trying examples.
_OTHERS = ("__init__.py", "__pycache__", "build")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@json_option
def examples(folder: Path, as_json: bool) -> None:
    """Copy the examples to FOLDER, which has to be new or empty.

    \b
    *.toml         trainings, as hypercast train takes them
    own_graph.py   a graph made in Python
    karate.ipynb   a training in a notebook
    c/             a driver in C, with transports, and a program that trains
    cocotb/        the exported Verilog under cocotb
    """
    if folder.exists() and any(folder.iterdir()):
        raise click.UsageError(f"{folder} is not empty, and nothing there is to be overwritten; "
                               f"give a new folder")
    if not folder.absolute().parent.is_dir():
        raise click.UsageError(f"{folder} cannot be made, for there is no folder {folder.parent}; "
                               f"make it, or give another")
    with importlib.resources.as_file(importlib.resources.files("hypercast.examples")) as source, \
            tempfile.TemporaryDirectory(prefix=".examples-", dir=folder.absolute().parent) as part:
        copy = shutil.copytree(source, Path(part, folder.name),
                               ignore=shutil.ignore_patterns(*_OTHERS))
        if folder.exists():
            folder.rmdir()
        copy.rename(folder)
    files = [str(path) for path in sorted(folder.rglob("*")) if path.is_file()]
    if as_json:
        print_json({"files": files})
        return
    for file in files:
        click.echo(f"wrote {file}")
