# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast noc``: explore the network under traffic."""


import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hypercast.host.commands.number_types import NumberRange, WholeRange
from hypercast.host.commands.options import PICTURE, json_option, print_json
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.commands.progress_text import ProgressText
from hypercast.host.commands.wave_options import wave_options
from hypercast.host.files.durable_file import write_durably
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.noc.patterns import (
    PATTERNS,
    Traffic,
    creation_cycles,
    graph_traffic,
    pattern_traffic,
)
from hypercast.rtl.config import Config
from hypercast.sim.waves import Waves

if TYPE_CHECKING:
    from hypercast.host.noc.measurement import Measurement

__all__ = ["noc"]


@click.command(epilog="Patterns: " + "; ".join(
    f"{name}: {text}" for name, text in PATTERNS.items()) + ".")
@click.argument("pattern", type=click.Choice(list(PATTERNS)), required=False)
@click.option("--graph", metavar="DATASET",
              help="Instead of a pattern, an aggregation over a graph, given as for train.")
@click.option("--panels", type=WholeRange(1),
              help="With --graph: panels of the layer that is aggregated.  [default: 1]")
@click.option("--dimensions", type=WholeRange(0), default=4, show_default=True)
@click.option("--planes", type=WholeRange(0), default=4, show_default=True)
@click.option("--eject", type=WholeRange(0), default=1, show_default=True,
              help="Ejection ports of a core.")
@click.option("--depth", type=WholeRange(0), default=4, show_default=True,
              help="Flits of every input buffer.")
@click.option("--messages", type=WholeRange(1),
              help="With a pattern: of each core.  [default: 400]")
@click.option("--seed", type=WholeRange(0), default=0, show_default=True)
@click.option("--rate", type=NumberRange(0),
              help="Messages per core and cycle, at random.  [default: all at the start]")
@click.option("--stalls", type=NumberRange(0, 0.95), default=0.0,
              show_default=True, help="Fraction of cycles in which an ejection port stalls.")
@click.option("--plot", type=PICTURE, metavar="FILE.png",
              help="Draw latency over load, and the hypercube with the loads of its links.")
@functools.partial(wave_options, of_step=False, since="the first injection")
@json_option
def noc(pattern: str | None, graph: str | None, panels: int | None, dimensions: int, planes: int,
        eject: int, depth: int, messages: int | None, seed: int, rate: float | None, stalls: float,
        plot: Path | None, waves: Waves | None, as_json: bool) -> None:
    """Send traffic through the simulated network.

    Shows cycles, their bound, latencies, and how busy links are. The traffic follows PATTERN
    (unicast if there is none), or --graph.
    """
    if graph and (pattern or messages):
        raise click.UsageError("with --graph, the graph says who sends what; leave out PATTERN and "
                               "--messages")
    if panels and not graph:
        raise click.UsageError("--panels is about the aggregation of a --graph; give one")
    pattern = pattern or "unicast"
    from hypercast.host.noc.measurement import measure  # brings the hardware with it
    from hypercast.sim.network_simulation import NetworkSimulation, narrow

    config = narrow(Config(dimensions=dimensions, planes=planes, eject=eject, buffer_depth=depth))
    if waves:
        waves.check(config)
    traffic = (_graph_traffic(graph, dimensions, panels or 1) if graph
               else pattern_traffic(pattern, dimensions, messages or 400, seed))
    created = None if rate is None else creation_cycles(traffic.source, rate, seed)
    options = {"ready": 1 - stalls, "seed": seed}
    with ProgressText("opening the network") as progress:
        simulation = NetworkSimulation(config, watched=waves is not None, progress=progress.update)
        progress.update("sending")
        result = measure(simulation, traffic, config, created=created, waves=waves, **options)
        if plot:
            from hypercast.host.files.picture import picture
            from hypercast.host.noc.plot import draw
            write_durably(plot, picture(draw(simulation, traffic, config, result,
                                             title=graph or pattern, **options), plot))
    summary = _summary(result)
    if as_json:
        print_json({"traffic": graph or pattern, **config.to_dict(), **summary,
                    "link_flits": result.run.link_flits.tolist()})
    else:
        _print(summary, "efficiency" if rate is None else "load accepted, of the bound",
               f"{graph or pattern}, {config.cores} cores, {planes} planes, "
               f"{eject} ejection ports, buffers of {depth}")


def _graph_traffic(dataset: str, dimensions: int, panels: int) -> Traffic:
    loaded = Graph.load(dataset)
    graph = loaded.permute(rank_order(loaded))
    return graph_traffic(graph.normalise("symmetric"), dimensions, panels)


def _summary(result: "Measurement") -> dict[str, Any]:
    from hypercast.host.noc.measurement import PERCENTILES, percentiles

    run, links = result.run, result.link_utilisation
    names = ["max" if percent == 100 else f"p{percent}" for percent in PERCENTILES]
    return {
        "messages": len(run.injected), "deliveries": len(run.message), "cycles": run.cycles,
        "bound": result.bound.cycles, "bound_by": result.bound.resource,
        "efficiency": result.efficiency, "peak_queue": run.peak_queue,
        "delivery_latency": dict(zip(names, percentiles(result.delivery_latency), strict=True)),
        "message_latency": dict(zip(
            names, percentiles(result.message_latency[result.message_latency >= 0]), strict=True)),
        "link_utilisation": {
            "mean": float(links.mean()) if links.size else 0.0,
            "max": float(links.max(initial=0))},
    }


def _print(summary: Mapping[str, Any], efficiency: str, title: str) -> None:
    console, links = make_console(), summary["link_utilisation"]
    print_table(console, ("", ""), [
        *((name, f"{summary[name]:,}") for name in ("messages", "deliveries", "cycles")),
        ("bound", f"{summary['bound']:,.1f} cycles, set by {summary['bound_by']}"),
        (efficiency, f"{summary['efficiency']:.1%}"),
        ("longest queue at a source", f"{summary['peak_queue']:,}"),
        ("link utilisation", f"mean {links['mean']:.1%}, busiest {links['max']:.1%}")], title)
    print_table(console, ("cycles from creation", *summary["delivery_latency"]), [
        (name, *(f"{value:,}" for value in summary[row].values()))
        for name, row in (("to each delivery", "delivery_latency"),
                          ("to a message's last delivery", "message_latency"))], "latency")
