"""``hypercast verilog``: Verilog and its descriptions for FPGA tool chains and software."""

import json
from pathlib import Path

import click

from hypercast.host.commands.options import configuration, json_option, print_json
from hypercast.host.files.reading.regular_file import read_text
from hypercast.rtl.config import Config

__all__ = ["verilog"]


@click.command()
@configuration("cora")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/verilog"),
              show_default=True, help="Folder to write to.")
@json_option
def verilog(config: Config, output: Path, as_json: bool) -> None:
    """Write the chip as Verilog, with all that describes it to tools and software.

    \b
    hypercast.v     the chip, top module hypercast
    hypercast.vlt   waivers for Verilator's lint, with reasons
    hypercast.xml   IP-XACT component: ports, AXI4-Lite interface, registers
    hypercast.svd   registers as CMSIS SVD
    hypercast.h     registers and configuration for C, see examples/c
    registers.md    registers, to be read
    manifest.json   ports, registers, counters and memories
    """
    from hypercast.host.eda.integration.c_header import c_header
    from hypercast.host.eda.integration.ipxact import ipxact
    from hypercast.host.eda.integration.register_page import register_page
    from hypercast.host.eda.integration.svd import svd
    from hypercast.rtl.export.chip_conversion import LINT_WAIVERS, to_verilog
    from hypercast.rtl.export.manifest import manifest

    description = manifest(config)
    files = {"hypercast.v": to_verilog(config), "hypercast.vlt": read_text(LINT_WAIVERS),
             "hypercast.xml": ipxact(config), "hypercast.svd": svd(config),
             "hypercast.h": c_header(config), "registers.md": register_page(),
             "manifest.json": json.dumps(description, indent=2) + "\n"}
    output.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (output / name).write_text(content, encoding="utf-8")
    if as_json:
        print_json({"files": [str(output / name) for name in files], **description})
        return
    for name in files:
        click.echo(f"wrote {output / name}")
    click.echo(f"configuration hash {description['configuration_hash']}, "
               f"{description['multipliers']} multipliers in the arrays, "
               f"{description['memory_bits'] / 2**20:.1f} Mibit of memory")
