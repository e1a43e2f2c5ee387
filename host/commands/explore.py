# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast explore``: the configuration for a board, a graph and a network."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import tomli_w

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.boards.serial_board import SERIAL_BOARDS
from hypercast.boards.zynq_board import ZYNQ_BOARDS
from hypercast.host.commands.description_options import (
    DESCRIPTION_GROUPS,
    describe,
    description_options,
)
from hypercast.host.commands.option_groups import CommandWithGroups
from hypercast.host.commands.options import OUTPUT, PICTURE, json_option, print_json
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.commands.progress_text import ProgressText
from hypercast.host.commands.statistics_options import count, either, statistics_options
from hypercast.host.description.device import Device
from hypercast.host.files.durable_file import write_durably
from hypercast.rtl.config import PRESETS, Config

if TYPE_CHECKING:
    from hypercast.host.description.description import Description
    from hypercast.host.eda.exploration import Candidate, Refusal
    from hypercast.host.eda.target import Target

__all__ = ["explore"]

_BOARDS = HBM_BOARDS | SERIAL_BOARDS | ZYNQ_BOARDS


@click.command(cls=CommandWithGroups, groups=DESCRIPTION_GROUPS)
@click.argument("dataset", required=False)
@click.option("--board", type=click.Choice(sorted(_BOARDS)), required=True, help="Which board.")
@statistics_options
@click.option("-o", "--output", type=OUTPUT, metavar="FILE.toml",
              help="Write the fastest configuration, with the rest of the training, for train.")
@click.option("--plot", type=PICTURE, metavar="FILE.png", help="Draw what was tried.")
@json_option
@description_options
def explore(dataset: str | None, board: str, vertices: tuple[int, ...] | None,
            edges: tuple[int, ...] | None, features: int | None, classes: int | None,
            degree_law: str, output: Path | None, plot: Path | None, as_json: bool,
            changes: dict[str, dict[str, Any]]) -> None:
    """Find the configuration of a board that trains fastest.

    Fastest is that with the shortest training step on DATASET.

    Lanes, cores, planes, ejection ports and buffers are varied, but for what -P fixes. Weight bank,
    memory channels, program memory and exponent file are as large as the step needs. A line says
    which configurations the step cannot be loaded into, and what would help.

    Cycles come from the cycle model (see hypercast model), area from the area model (see hypercast
    area --estimate). Energy is an estimate, too; docs/explore.md says of what.
    """
    from hypercast.host.eda.exploration import explore as search
    from hypercast.host.eda.exploration import pareto
    from hypercast.host.eda.pareto_plot import draw_pareto
    from hypercast.host.eda.step_workloads import GraphSteps, StatisticSteps
    from hypercast.host.eda.target import target_of
    from hypercast.host.files.picture import picture
    from hypercast.host.training.ordering import ordered_for_graph, ordered_for_numbers

    either(dataset, vertices)
    device = changes.setdefault("device", {})
    fixed = {name: value for name, value in device.items() if name in Config.__dataclass_fields__}
    device.setdefault("preset", _BOARDS[board].preset)
    target = replace(target_of(board), preset=device["preset"])
    if "elements" in device:
        fixed["element_width"] = device["elements"]
    with ProgressText("explore") as progress:
        description = describe(dataset, changes)
        if description.sampling.sampler:
            raise click.UsageError("a training on samples is explored by its batches' numbers: "
                                   "leave --sampler out, and give --vertices with --edges")
        model, recipe = description.model, description.recipe
        if recipe.optimiser == "adam" and not fixed.setdefault("adam", True):
            raise click.UsageError("the optimiser is adam, but a chip of -P adam=false has no unit "
                                   "for it; leave that out, or train with --optimiser sgd")
        default = model.chosen and not model.fastest
        steps: GraphSteps | StatisticSteps
        if vertices is None:
            progress.update("reading the graph")
            graph = description.load_graph()
            network = model.network(graph)
            if default:
                network = ordered_for_graph(network, graph, recipe.element_width)
            steps = GraphSteps(graph, network, recipe, fastest=model.fastest)
        else:
            numbers = count(description, vertices, edges, features, classes)
            network = numbers.network
            if default:
                network = ordered_for_numbers(network, numbers.vertices, numbers.edges, recipe,
                                              law=degree_law, sampled=numbers.sampled)
            steps = StatisticSteps(numbers.vertices, numbers.edges, network, law=degree_law,
                                   sampled=numbers.sampled, fastest=model.fastest)
        found = search(target, steps, fixed, progress.update)
    candidates, best = found.candidates, pareto(found.candidates)
    drawn = plot and picture(draw_pareto(
        candidates, best, f"{len(candidates)} configurations that fit {board}"), plot)
    if output:
        write_durably(output, _describe_training(description, best[0].config, device["preset"],
                                                 output.parent if dataset else None).encode())
    if plot and drawn:
        write_durably(plot, drawn)
    if as_json:
        print_json({"board": board, "tried": len(candidates),
                    "candidates": [_document(one, device["preset"]) for one in best],
                    "refused": [{"configuration": one.config.to_dict(), "reason": one.reason}
                                for one in found.refusals]})
        return
    _print(best, target, len(candidates), device["preset"])
    _print_refusals(found.refusals)
    for file in filter(None, (output, plot)):
        click.echo(f"wrote {file}")


def _changes(config: Config, preset: str) -> dict[str, Any]:
    """Fields of a configuration that differ from a preset."""
    base = PRESETS[preset].to_dict()
    return {name: value for name, value in config.to_dict().items() if value != base[name]}


def _describe_training(description: "Description", config: Config, preset: str,
                       folder: Path | None) -> str:
    """A training on a configuration, as a description file, in a folder if it names a graph."""
    device = Device(description.device.name, preset=preset, **_changes(config, preset))
    if folder:
        return replace(description, device=device).relative_to(folder).text()
    return tomli_w.dumps({"device": device.values()})


def _options(config: Config, preset: str) -> str:
    return " ".join(f"-P {name}={str(value).lower()}"
                    for name, value in _changes(config, preset).items())


def _document(one: "Candidate", preset: str) -> dict[str, object]:
    return {"configuration": one.config.to_dict(), "hash": f"{one.config.hash:#010x}",
            "options": f"--preset {preset} {_options(one.config, preset)}".strip(),
            "cycles": one.cycles, "seconds": one.seconds, "shares": one.shares,
            "orders": one.orders, "slowdowns": [*map(str, one.slowdowns)],
            "estimated_joules": one.joules,
            "estimated_energy": one.energy}


def _print(best: Sequence["Candidate"], target: "Target", count: int, preset: str) -> None:
    from hypercast.host.eda.exploration import BUFFERS

    kinds = {"LUT": "LUT", "DSP": "DSP", "block RAM": "RAM", "UltraRAM": "URAM"}
    heads = ("cores", "lanes", "planes", "ports", "buffers", "cycles", "ms", *kinds.values(), "mJ*")
    print_table(make_console(), heads, [
        (*map(str, (one.config.cores, one.config.lanes, one.config.planes, one.config.eject)),
         "/".join(str(getattr(one.config, name)) for name in BUFFERS), f"{one.cycles:,}",
         f"{one.seconds * 1e3:.4g}", *(f"{one.shares[kind]:.0%}" for kind in kinds),
         f"{one.joules * 1e3:.3g}") for one in best],
        f"{target.name}: {count} configurations fit; none is faster in less room than these")
    click.echo(f"buffers: {', '.join(BUFFERS)}; shares are estimated; * an estimate, see "
               f"docs/explore.md")
    for slowdown in best[0].slowdowns:
        click.echo(f"the first is slower than it could be: {slowdown}")
    click.echo("to build the first: " + " ".join(filter(None, (
        f"hypercast build --board {target.name} --preset {preset}",
        _options(best[0].config, preset)))))


def _print_refusals(refusals: Sequence["Refusal"]) -> None:
    """One line for all that lack the same, with the first of them."""
    alike: dict[str, list[Refusal]] = {}
    for one in refusals:
        alike.setdefault(re.sub(r"\d+", "", one.reason), []).append(one)
    for first, *others in alike.values():
        config = first.config
        shape = (f"{config.cores} cores, {config.lanes} lanes, {config.planes} planes, "
                 f"{config.eject} ports")
        click.echo(f"cannot be loaded: {shape}{f', and {len(others)} more' if others else ''}: "
                   f"{first.reason}")
