"""``hypercast verilog``: Verilog and a manifest for FPGA tool chains."""

import json
from pathlib import Path

import click

from hypercast.host.commands.options import configuration, expected_errors, json_option, print_json

__all__ = ["verilog"]


@click.command()
@expected_errors
@configuration("cora")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/verilog"),
              show_default=True, help="Folder to write to.")
@json_option
def verilog(config, output, as_json):
    """Write the chip as Verilog, with a manifest of ports, registers and memories."""
    from hypercast.rtl.manifest import manifest
    from hypercast.rtl.netlist import to_verilog

    text = to_verilog(config)
    description = manifest(config)
    output.mkdir(parents=True, exist_ok=True)
    files = {"hypercast.v": text, "manifest.json": json.dumps(description, indent=2) + "\n"}
    for name, content in files.items():
        (output / name).write_text(content)
    if as_json:
        print_json({"files": [str(output / name) for name in files], **description})
        return
    for name in files:
        click.echo(f"wrote {output / name}")
    click.echo(f"configuration hash {description['configuration_hash']}, "
               f"{description['multipliers']} multipliers in the arrays, "
               f"{description['memory_bits'] / 2**20:.1f} Mibit of memory")
