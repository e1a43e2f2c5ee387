# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast area``: what a chip takes of an FPGA, by synthesis."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hypercast.host.commands.number_types import NumberRange
from hypercast.host.commands.options import PICTURE, configuration, json_option, print_json
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.commands.progress_text import ProgressText
from hypercast.host.eda.families import FAMILIES, Area
from hypercast.host.files.durable_file import write_durably
from hypercast.rtl.config import Config

if TYPE_CHECKING:
    from hypercast.host.eda.chip_area import ChipArea
    from hypercast.host.eda.place_and_route import ClockTiming

__all__ = ["area"]


@click.command()
@configuration("tiny")
@click.option("--family", type=click.Choice(list(FAMILIES)), required=True,
              help="Family of the FPGA.")
@click.option("--memory", type=click.Choice(["sram", "axi"]),
              help="Where the channels' memory is: in the FPGA, or outside, behind AXI4.  "
                   "[default: axi if the configuration simulates it, else sram]")
@click.option("--estimate", is_flag=True,
              help="Do not synthesise: what the model says that was fitted to syntheses.")
@click.option("--clock", type=NumberRange(1, 1000), metavar="MHZ",
              help="Place and route a core and the control unit, too, aiming at a clock; ecp5 "
                   "only. It takes many minutes.")
@click.option("--treemap", type=PICTURE, metavar="FILE.png",
              help="Draw the blocks, as large as their LUTs.")
@json_option
def area(config: Config, family: str, memory: str | None, estimate: bool, clock: float | None,
         treemap: Path | None, as_json: bool) -> None:
    """Count LUTs, flip-flops, DSPs and RAMs of a chip by synthesis.

    Yosys counts them, block by block. What was synthesised once is known from then on. --estimate
    takes no time.
    """
    from hypercast.host.eda.area_model import estimated_area
    from hypercast.host.eda.chip_area import chip_area, has_memory_outside
    from hypercast.host.eda.place_and_route import core_clock
    from hypercast.host.eda.treemap import draw_treemap
    from hypercast.host.files.picture import picture

    if clock and family != "ecp5":
        raise click.UsageError(f"--clock needs --family ecp5, not {family}: nothing else is placed "
                               f"and routed here; leave --clock out")
    external = has_memory_outside(config) if memory is None else memory == "axi"
    reached = None
    with ProgressText("area") as progress:
        if estimate:
            found = estimated_area(config, family, external=external)
        else:
            found = chip_area(config, family, external=external, progress=progress.update)
        if clock:
            progress.update("placing and routing a core and the control unit")
            reached = core_clock(config, asked=clock, external=external)
    title = f"{FAMILIES[family].title}, memory {'outside' if external else 'inside'}"
    if treemap:
        write_durably(treemap, picture(
            draw_treemap(found, f"{title}: LUTs of {_cores(found)}"), treemap))
    if as_json:
        print_json(_document(config, family, external, estimate, found, reached))
        return
    _print(found, f"{title}{', estimated' * estimate}")
    if reached:
        click.echo(f"clock: {reached.asked:.0f} MHz asked, {reached.reached:.1f} MHz reached; "
                   f"slowest path: {reached.begin} to {reached.end}, {reached.cells} cells")
    if treemap:
        click.echo(f"wrote {treemap}")


def _cores(found: "ChipArea") -> str:
    return f"{found.cores} core{'s' * (found.cores > 1)} and the control unit"


def _document(config: Config, family: str, external: bool, estimated: bool, found: "ChipArea",
              clock: "ClockTiming | None") -> dict[str, object]:
    return {
        "family": family, "memory": "axi" if external else "sram", "estimated": estimated,
        "configuration_hash": f"{config.hash:#010x}", "configuration": config.to_dict(),
        "cores": found.cores,
        "blocks": {name: block.tally for name, block in found.blocks.items()},
        "core": found.core.tally, "control": found.control.tally, "chip": found.total.tally,
        "clock": clock and {"asked": clock.asked, "reached": clock.reached, "begin": clock.begin,
                            "end": clock.end, "cells": clock.cells}}


def _print(found: "ChipArea", title: str) -> None:
    total = found.total.tally
    kinds = [kind for kind in total if total[kind] or kind in ("LUT", "flip-flop", "DSP")]

    def row(name: str, block: Area) -> tuple[str, ...]:
        return name, *(f"{block.tally[kind]:,.10g}" for kind in kinds)

    print_table(make_console(), ("block", *kinds), [
        *(row(name, block) for name, block in found.blocks.items()), None,
        row("a core", found.core), row("control unit", found.control), None,
        row(f"chip: {_cores(found)}", found.total)], title)
