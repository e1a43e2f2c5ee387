# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast build``: the project of a board, and its bitstream."""

import dataclasses
import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.boards.serial_board import SERIAL_BOARDS
from hypercast.boards.zynq_board import ZYNQ_BOARDS
from hypercast.errors import NotFoundError
from hypercast.host.commands.chip_folder import MANIFEST, require_chip_folder, write_chip
from hypercast.host.commands.options import FOLDER, configuration, json_option, print_json
from hypercast.host.commands.progress_text import ProgressText
from hypercast.host.files.joined_files import joined_files
from hypercast.rtl.config import Config

if TYPE_CHECKING:
    from hypercast.host.eda.board_build import BoardReport

__all__ = ["build"]

_BOARDS = HBM_BOARDS | SERIAL_BOARDS | ZYNQ_BOARDS
_VIVADO = ("vivado", "-mode", "batch", "-source", "build.tcl")


@click.command()
@configuration(of=lambda board, **_: _BOARDS[board].preset)
@click.option("--board", type=click.Choice(sorted(_BOARDS)), required=True, help="Which board.")
@click.option("-o", "--output", type=FOLDER, default=None,
              metavar="FOLDER", help="Folder to write to.  [default: build/BOARD]")
@click.option("--run/--no-run", default=None,
              help="Run the tools that build the bitstream.  [default: if pip installs them]")
@click.option("--debug", is_flag=True,
              help="Have a logic analyser in the FPGA watch the chip, on boards with HBM or a "
                   "processor.")
@click.option("--bulk", is_flag=True,
              help="Load memories by DMA instead of word by word, on boards with HBM; it takes "
                   "logic, see docs/boards.md.")
@json_option
def build(config: Config, board: str, output: Path | None, run: bool | None, debug: bool,
          bulk: bool, as_json: bool) -> None:
    """Write a project for a board, and build its bitstream.

    The default configuration is the one that suits the board. Yosys and nextpnr build the
    bitstream of a board with an ECP5 here, and report.json says what it is; the others need their
    maker's tools. A configuration that cannot fit the FPGA is refused before anything is written.
    A bitstream that misses its clock is an error of every board's script.

    \b
    with HBM, files for Vivado:
    hypercast.v    the board: the chip, and what connects it to HBM and PCIe
    ip.tcl         the vendor's IP, configured
    pins.xdc       pins and clocks
    floorplan.xdc  which core is on which die
    build.tcl      makes hypercast.bit, hypercast.mcs, timing.txt and utilisation.txt
    flash.tcl      programs the board's flash memory with hypercast.mcs

    \b
    with a processor that runs Linux, files for Vivado:
    hypercast.v          the chip, with a manager for every memory channel
    system.tcl           processor, chip and what connects them, as a block design
    build.tcl            makes hypercast.bit, hypercast.xsa, timing.txt and utilisation.txt
    hypercast.bif        for bootgen, which makes of the bitstream what Linux loads
    reserved-memory.dtsi the memory that Linux has to leave to the chip

    \b
    with a serial port:
    chip.il or chip.v   the chip
    hypercast.*         the board's top, constraints, and scripts of its tools
    build_hypercast.sh  makes the bitstream

    \b
    with every board:
    hypercast.h    registers and configuration for C
    hypercast.svd  registers as CMSIS SVD
    manifest.json  board, configuration, registers, counters and memories

    \b
    with --debug:
    debug.tcl      connects the logic analyser to registers called debug_*
    hypercast.ltx  its probes, made by build.tcl
    """
    if debug and board in SERIAL_BOARDS:
        raise click.UsageError(
            f"--debug is for boards with HBM or a processor, not for {board}; look into a "
            f"simulation of this chip instead: hypercast train ... --device rtl --vcd FILE")
    if bulk and board not in HBM_BOARDS:
        raise click.UsageError(
            f"--bulk is for boards with HBM, not for {board}, whose link to the host has no DMA; "
            f"leave it out")
    folder = output or Path("build", board)
    from hypercast.host.eda.board_fit import check_board

    check_board(board, config, lambda text: click.echo(f"note: {text}", err=True))
    description = _manifest(board, config, debug=debug, bulk=bulk)
    require_chip_folder(folder, description)
    if board in SERIAL_BOARDS:
        run = SERIAL_BOARDS[board].open_tools if run is None else run
        _serial(board, config, folder, run, as_json, description)
    else:
        _vivado(board, config, folder, bool(run), as_json, description)


def _manifest(name: str, config: Config, *, debug: bool, bulk: bool) -> dict[str, Any]:
    """The manifest of the board's chip."""
    from hypercast.rtl.export.export_options import ExportOptions
    from hypercast.rtl.export.manifest import manifest

    described = manifest(config, ExportOptions(external=name not in SERIAL_BOARDS))
    if name not in ZYNQ_BOARDS:  # names and ports are an exported chip's
        for key in ("top", "prefix", "ports", "external_memory"):
            del described[key]
    return {"board": name, "fpga": _BOARDS[name].fpga, "debug": debug, "bulk": bulk,
            **described}


def _descriptions(name: str, config: Config, description: dict[str, Any]) -> dict[str, str]:
    """Files that describe the chip on the board to software."""
    from hypercast.host.eda.integration.c_header import c_header
    from hypercast.host.eda.integration.svd import svd
    from hypercast.rtl.export.export_options import ExportOptions

    options = ExportOptions(external=name not in SERIAL_BOARDS)
    return {"hypercast.h": c_header(config, options), "hypercast.svd": svd(config, options),
            MANIFEST: json.dumps(description, indent=2) + "\n"}


def _vivado_files(name: str, config: Config, *, debug: bool, bulk: bool) -> dict[str, str]:
    """The project of a board with HBM, or with a processor."""
    from hypercast.boards import hbm_project, zynq_project
    from hypercast.rtl.export import chip_conversion

    if name in HBM_BOARDS:
        board = HBM_BOARDS[name]
        return {"hypercast.v": hbm_project.board_verilog(
                    board, config, debug=debug, bulk=bulk),
                **hbm_project.board_scripts(board, config, "hypercast", debug=debug, bulk=bulk)}
    options = dataclasses.replace(zynq_project.OPTIONS, debug=debug)
    return {"hypercast.v": chip_conversion.to_verilog(config, options),
            **zynq_project.board_files(ZYNQ_BOARDS[name], config, "hypercast", debug=debug)}


def _vivado(name: str, config: Config, folder: Path, run: bool, as_json: bool,
            description: dict[str, Any]) -> None:
    board = (HBM_BOARDS | ZYNQ_BOARDS)[name]
    if run and not shutil.which(_VIVADO[0]):
        raise NotFoundError(
            "--run needs Vivado, but there is no vivado on the PATH; source its settings64.sh, or "
            "leave out --run and build on another machine")
    with ProgressText("converting the chip"):
        files = joined_files([
            *_vivado_files(name, config, debug=description["debug"],
                           bulk=description["bulk"]).items(),
            *_descriptions(name, config, description).items()])
    write_chip(folder, files)
    if run and subprocess.run(_VIVADO, cwd=folder).returncode:
        raise click.ClickException(f"Vivado failed; see {folder / 'vivado.log'}")
    if as_json:
        print_json({"board": name, "part": board.part, "built": run,
                    "configuration_hash": f"{config.hash:#010x}",
                    "files": [str(folder / file) for file in files]})
        return
    for file in files:
        click.echo(f"wrote {folder / file}")
    click.echo(f"built {folder / 'hypercast.bit'}" if run else
               f"to build {board.title}, where Vivado is: cd {folder} && {' '.join(_VIVADO)}")


def _serial(name: str, config: Config, folder: Path, run: bool, as_json: bool,
            description: dict[str, Any]) -> None:
    from hypercast.boards.serial_project import PROJECT, chip_source, project
    from hypercast.host.eda.board_build import build_bitstream

    board = SERIAL_BOARDS[name]
    with ProgressText("converting the chip"):
        plan = project(board, config, chip_source(board, config))
        files = joined_files([*plan.files.items(),
                              *_descriptions(name, config, description).items()])
    write_chip(folder, files)
    report: BoardReport | None = None
    if run:
        with ProgressText("building the bitstream, which takes many minutes"):
            report = build_bitstream(folder)
        write_chip(folder, {"report.json": json.dumps(report.to_dict(), indent=1) + "\n"})
    if as_json:
        print_json({"board": name, "built": run,
                    "configuration_hash": f"{config.hash:#010x}",
                    "files": [str(folder / file) for file in files],
                    "report": report and report.to_dict()})
    else:
        for file in files:
            click.echo(f"wrote {folder / file}")
        click.echo(_text(report, folder / f"{PROJECT}.bit") if report else
                   f"to build {board.title}, where {board.toolchain} is: cd {folder} && "
                   f"sh {plan.script}.sh")
    if report and not report.clock.met:
        raise click.ClickException(
            f"the clock is not met: {report.clock.asked:.0f} MHz asked, "
            f"{report.clock.reached:.1f} MHz reached")


def _text(report: "BoardReport", product: Path) -> str:
    """A report as text."""
    clock = report.clock
    lines = [f"clock: {clock.asked:.0f} MHz asked, {clock.reached:.1f} MHz reached",
             f"slowest path: {clock.begin} to {clock.end}, {clock.cells} cells, "
             f"{clock.wires:.0%} of its time on wires"]
    lines += [f"{kind}: {used} of {report.available[kind]}, {used / report.available[kind]:.0%}"
              for kind, used in report.used.items()]
    lines += [f"  {name}: {area.luts + area.ram_luts} LUT, {area.flip_flops} flip-flops, "
              f"{area.dsps} DSP, {area.block_rams} block RAM"
              for name, area in sorted(report.blocks.items())]
    return "\n".join([*lines, f"built {product} in {report.seconds:.0f} s, with up to "
                              f"{report.memory / 2**30:.1f} GiB of memory"])
