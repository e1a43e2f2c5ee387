"""``hypercast build``: a project for a board."""

import shutil
import subprocess
from pathlib import Path

import click

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.host.commands.options import configuration, expected_errors, json_option, print_json

__all__ = ["build"]

_VIVADO = ("vivado", "-mode", "batch", "-source", "build.tcl")


@click.command()
@expected_errors
@configuration("vcu128")
@click.option("--board", type=click.Choice(list(HBM_BOARDS)), required=True, help="Which board.")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=None,
              metavar="FOLDER", help="Folder to write to.  [default: build/BOARD]")
@click.option("--run", is_flag=True, help="Run Vivado, which has to be on the PATH.")
@json_option
def build(config, board, output, run, as_json):
    """Write a project for a board: Verilog, constraints, and the scripts that build it.

    \b
    hypercast.v    the board: the chip, and what connects it to HBM and PCIe
    ip.tcl         the vendor's IP, configured
    pins.xdc       pins and clocks
    floorplan.xdc  which core is on which die
    build.tcl      makes hypercast.bit, timing.txt and utilisation.txt
    """
    from hypercast.boards.hbm_project import board_scripts, board_verilog

    if run and not shutil.which(_VIVADO[0]):
        raise FileNotFoundError(
            "--run needs Vivado, but there is no vivado on the PATH; source its settings64.sh, or "
            "leave out --run and build on another machine")
    described = HBM_BOARDS[board]
    folder = output or Path("build", board)
    files = {"hypercast.v": board_verilog(described, config),
             **board_scripts(described, config, "hypercast")}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content)
    if run and subprocess.run(_VIVADO, cwd=folder).returncode:
        raise click.ClickException(f"Vivado failed; see {folder / 'vivado.log'}")
    if as_json:
        print_json({"board": board, "part": described.part, "built": run,
                    "configuration_hash": f"{config.hash:#010x}",
                    "files": [str(folder / name) for name in files]})
        return
    for name in files:
        click.echo(f"wrote {folder / name}")
    click.echo(f"built {folder / 'hypercast.bit'}" if run else
               f"to build {described.title}, where Vivado is: cd {folder} && {' '.join(_VIVADO)}")
