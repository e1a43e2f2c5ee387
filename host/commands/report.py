"""``hypercast report``: a training run as one HTML page."""

from pathlib import Path

import click

from hypercast.host.commands.options import expected_errors

__all__ = ["report"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@expected_errors
@click.option("-o", "output", type=click.Path(path_type=Path, dir_okay=False),
              default="report.html", show_default=True, help="The page.")
def report(folder, output):
    """Draw the run that `hypercast train --run FOLDER` kept, as one self-contained HTML page."""
    from hypercast.host.report.folder import load_run
    from hypercast.host.report.page import page  # slow to import

    output.write_text(page(load_run(folder)))
    click.echo(f"{output}: {output.stat().st_size / 1024:,.0f} KiB")
