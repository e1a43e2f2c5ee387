# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast verilog``: Verilog and its descriptions for FPGA tool chains and software."""

from pathlib import Path

import click

from hypercast.errors import InputError
from hypercast.host.commands.chip_folder import require_chip_folder, write_chip
from hypercast.host.commands.options import FOLDER, configuration, json_option, print_json
from hypercast.host.commands.progress_text import ProgressText
from hypercast.rtl.config import Config

__all__ = ["verilog"]


@click.command()
@configuration("cora")
@click.option("-o", "--output", type=FOLDER, default=Path("build/verilog"),
              show_default=True, help="Folder to write to.")
@click.option("--memory", type=click.Choice(["sram", "axi"]), default="sram", show_default=True,
              help="Memory channels: RAM in the chip, or two AXI4 managers for each core.")
@click.option("--top-name", default="", metavar="NAME",
              help="Name of the top module and of the files.  "
                   "[default: hypercast, with the prefix]")
@click.option("--prefix", default="", metavar="PREFIX",
              help="Put this before the names of all modules, so that two chips fit one design.")
@click.option("--src", "sources", is_flag=True,
              help="Keep attributes src, which lead from the Verilog back to lines of Python.")
@click.option("--no-ultra-ram", is_flag=True,
              help="For FPGAs without UltraRAM: large memories do not ask for it.")
@json_option
def verilog(config: Config, output: Path, memory: str, top_name: str, prefix: str,
            sources: bool, no_ultra_ram: bool, as_json: bool) -> None:
    """Write the chip as Verilog, with what describes it to tools.

    NAME is the top module's name. A folder that has the files of another chip is refused.

    \b
    NAME.v             the chip
    NAME.vlt           waivers for Verilator's lint, with reasons
    NAME.core          FuseSoC: targets sim, lint and synth
    NAME_yosys.tcl     what its target synth does about names
    NAME_bench.sv      test bench, which trains, and
    NAME_training.hex  the accesses that it makes
    NAME_litex.py      the chip as a module of LiteX
    component.xml      IP-XACT component of 2009, for Vivado's IP catalog
    NAME.xml           IP-XACT component of 2014: ports, interfaces, registers
    NAME.svd           registers as CMSIS SVD
    NAME.h             registers and configuration for C, see examples/c
    registers.md       registers, to be read
    manifest.json      ports, registers, counters and memories
    """
    from hypercast.host.eda.integration.export_files import export_files
    from hypercast.rtl.export.export_options import ExportOptions
    from hypercast.rtl.export.manifest import manifest

    try:
        options = ExportOptions(
            external=memory == "axi", top_name=top_name, prefix=prefix, sources=sources,
            ultra_ram=not no_ultra_ram)
    except InputError as error:
        raise click.UsageError(str(error)) from error
    description = manifest(config, options)
    require_chip_folder(output, description)
    with ProgressText("exporting") as progress:
        files = export_files(config, options, progress=progress.update)
    write_chip(output, files)
    if as_json:
        print_json({"files": [str(output / name) for name in files], **description})
        return
    for name in files:
        click.echo(f"wrote {output / name}")
    click.echo(f"configuration hash {description['configuration_hash']}, "
               f"{description['multipliers']} multipliers in the arrays, "
               f"{description['memory_bits'] / 2**20:.1f} Mibit of memory in the chip")
    if f"{options.top}.core" in files and not any(name.endswith("_bench.sv") for name in files):
        click.echo("no test bench, for the karate club does not fit this configuration")
    if not options.external and (config.memory_latency > 1 or config.memory_stalls):
        click.echo("memory_latency and memory_stalls make a memory for simulations; for an FPGA, "
                   "take --memory axi, or -P memory_latency=1 -P memory_stalls=false")
