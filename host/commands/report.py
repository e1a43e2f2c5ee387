# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast report``: a training run as one HTML page."""

from pathlib import Path

import click

from hypercast.host.commands.options import PAGE, json_option, print_json
from hypercast.host.files.durable_file import write_durably
from hypercast.host.training.run_folder import RunFolder

__all__ = ["report", "write_report"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("-o", "output", type=PAGE,
              help="The page.  [default: FOLDER/report.html]")
@json_option
def report(folder: Path, output: Path | None, as_json: bool) -> None:
    """Draw a run as one self-contained HTML page.

    FOLDER was written by `hypercast train --run FOLDER`.
    """
    if output:
        RunFolder(folder).check_output(output)
    path = write_report(folder, output)
    size = path.stat().st_size
    if as_json:
        print_json({"file": str(path), "bytes": size})
    else:
        click.echo(f"{path}: {size / 1024:,.0f} KiB")


def write_report(folder: Path, path: Path | None = None) -> Path:
    """Write the page of the run in a folder, by default into the folder; returns its path."""
    from hypercast.host.report.folder import load_run
    from hypercast.host.report.page import page  # slow to import
    from hypercast.host.training.run_folder import REPORT

    path = path or folder / REPORT
    # What was typed where the locale is not UTF-8 is in the command as its bytes.
    content = page(load_run(folder)).encode("utf-8", "surrogateescape")
    write_durably(path, content.decode("utf-8", "replace").encode())
    return path
