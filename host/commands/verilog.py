"""``hypercast verilog``: Verilog and its descriptions for FPGA tool chains and software."""

import json
from pathlib import Path

import click

from hypercast.host.commands.options import configuration, json_option, print_json
from hypercast.rtl.config import Config

__all__ = ["verilog"]


@click.command()
@configuration("cora")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/verilog"),
              show_default=True, help="Folder to write to.")
@click.option("--top-name", default="", metavar="NAME",
              help="Name of the top module and of the files.  "
                   "[default: hypercast, with the prefix]")
@click.option("--prefix", default="", metavar="PREFIX",
              help="Put this before the names of all modules, so that two chips fit one design.")
@json_option
def verilog(config: Config, output: Path, top_name: str, prefix: str,
            as_json: bool) -> None:
    """Write the chip as Verilog, with all that describes it to tools and software.

    NAME is that of the top module.

    \b
    NAME.v          the chip
    NAME.vlt        waivers for Verilator's lint, with reasons
    NAME.xml        IP-XACT component: ports, interfaces, registers
    NAME.svd        registers as CMSIS SVD
    NAME.h          registers and configuration for C, see examples/c
    registers.md    registers, to be read
    manifest.json   ports, registers, counters and memories
    """
    from hypercast.host.eda.integration.c_header import c_header
    from hypercast.host.eda.integration.ipxact import ipxact
    from hypercast.host.eda.integration.register_page import register_page
    from hypercast.host.eda.integration.svd import svd
    from hypercast.rtl.export.chip_conversion import lint_waivers, to_verilog
    from hypercast.rtl.export.manifest import manifest
    from hypercast.rtl.export.options import ExportOptions

    try:
        options = ExportOptions(top_name=top_name, prefix=prefix)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    description = manifest(config, options)
    files = {f"{options.top}.v": to_verilog(config, options),
             f"{options.top}.vlt": lint_waivers(options),
             f"{options.top}.xml": ipxact(config, options),
             f"{options.top}.svd": svd(config, options),
             f"{options.top}.h": c_header(config, options), "registers.md": register_page(),
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
