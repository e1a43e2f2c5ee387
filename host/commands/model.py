# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast model``: predict a training step without simulating it."""

from typing import TYPE_CHECKING

import click

from hypercast.host.commands.number_types import COUNTS, WholeRange
from hypercast.host.commands.options import (
    configuration,
    json_option,
    layer_orders,
    order_option,
    print_json,
)
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.cycle_model.aggregations import DEGREE_LAWS
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.description.model import AUTO, FASTEST
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.ordering import ordered_for_graph
from hypercast.host.training.prepare import Prepared, loss_of, prepare, prepare_for
from hypercast.reference.network import COMBINE_FIRST, Network
from hypercast.reference.recipe import NORMALISATIONS, Recipe
from hypercast.rtl.config import Config

if TYPE_CHECKING:
    from hypercast.host.cycle_model.prediction import Prediction

__all__ = ["model"]


@click.command()
@click.argument("dataset", required=False)
@configuration("vcu128")
@click.option("--vertices", type=WholeRange(1, 1 << 31), help="Instead of DATASET.")
@click.option("--edges", type=WholeRange(0, 1 << 40),
              help="With --vertices: edges, counted in both directions, loops included.")
@click.option("--degree-law", type=click.Choice(DEGREE_LAWS), default="power", show_default=True,
              help="With --vertices: how degrees are distributed.")
@click.option("--layers", "widths", type=COUNTS, metavar="WIDTHS",
              help="Features of the input, of hidden layers, and classes, such as 500,128,7; for "
                   "a DATASET those of hidden layers only.  [default: 128]")
@order_option
@click.option("--normalisation", type=click.Choice(NORMALISATIONS), default="symmetric",
              show_default=True, help="How a DATASET's edge weights are made.")
@json_option
def model(dataset: str | None, config: Config, vertices: int | None, edges: int | None,
          degree_law: str, widths: tuple[int, ...] | None, order: str, normalisation: str,
          as_json: bool) -> None:
    """Predict cycles, words and flits of a training step.

    The step is on DATASET, or on a graph that is known by numbers only. Beside the cycles stand two
    bounds: what the busiest resource needs, and what instructions need that depend on each other.
    If the configuration has no room for the step, or some larger table would make it faster, a line
    says why, and what would help.
    """
    from hypercast.host.compiler.size_limits import check_sizes
    from hypercast.host.cycle_model.default_orders import default_orders
    from hypercast.host.cycle_model.orders import choose_orders
    from hypercast.host.cycle_model.prediction import predict

    chosen = order in (AUTO, FASTEST)
    orders = COMBINE_FIRST if chosen else order
    if (dataset is None) == (vertices is None):
        raise click.UsageError("give a DATASET, or --vertices with --edges and --layers")
    if dataset and edges is not None:
        raise click.UsageError("--edges goes with --vertices; a DATASET has edges of its own")
    if vertices is not None:
        if edges is None or widths is None or len(widths) < 2:
            raise click.UsageError("--vertices needs --edges and --layers, such as 500,128,7")
        network = Network.of_widths(widths, orders=orders)
        check_sizes(network, vertices, config)
        workload = Workload.of_whole_graph(vertices, edges, network, config, law=degree_law)
        if order == FASTEST:
            workload = choose_orders(workload)
        elif order == AUTO:
            workload = workload.with_orders(layer.order for layer in default_orders(
                    network, workload.whole, [edges] * len(network.layers), config.element_width,
                    law=degree_law).layers)
    else:
        assert dataset is not None  # as one of both was given
        graph = Graph.load(dataset)
        network = Network.of_widths(
            [graph.features.shape[1], *(widths or (128,)), graph.classes], orders=orders)
        recipe = Recipe(epochs=1, element_width=config.element_width, normalisation=normalisation,
                        loss=loss_of(graph))
        if order == AUTO:
            network = ordered_for_graph(network, graph, recipe.element_width)
        prepared = prepare_for(config, graph, network, recipe) if order == FASTEST else Prepared(
            prepare(graph, network, recipe))
        workload = Workload.of_model(prepared.model, config, prepared.edges)
    prediction = predict(workload)
    if as_json:
        print_json({
            "orders": workload.orders, "cycles": prediction.cycles, "bound": prediction.bound,
            "limit": prediction.limit, "chain": prediction.chain,
            "shortages": [*map(str, prediction.shortages)],
            "slowdowns": [*map(str, prediction.slowdowns)], "work": prediction.work,
            "phases": [{"name": str(phase.name), "cycles": phase.cycles, "limit": phase.limit,
                        "loads": phase.loads} for phase in prediction.phases]})
    else:
        _print(workload, prediction, config)


def _print(workload: Workload, prediction: "Prediction", config: Config) -> None:
    console = make_console()
    console.print(layer_orders(workload.network))
    print_table(console, ("phase", "cycles", "limited by", "which is busy for"), [
        *((str(phase.name), f"{phase.cycles:,}", phase.limit, f"{phase.loads[phase.limit]:,.0f}")
          for phase in prediction.phases),
        ("all", f"{prediction.cycles:,}", prediction.limit, f"{prediction.bound:,.0f}")],
        f"predicted training step, {config.cores} cores, {config.lanes} lanes")
    print_table(console, ("no schedule is faster than", "cycles", "share of the step"), [
        (name, f"{cycles:,.0f}", f"{cycles / prediction.cycles:.1%}") for name, cycles in (
            (f"the busiest resource, {prediction.limit}", prediction.bound),
            ("the chain of dependent instructions", prediction.chain))], "bounds of the step")
    print_table(console, ("what", "of all cores"), [
        (counter.replace("_", " "), f"{amount:,}") for counter, amount in prediction.work.items()],
        "work of the step")
    for shortage in prediction.shortages:
        console.print(f"does not fit: {shortage}")
    for slowdown in prediction.slowdowns:
        console.print(f"slower than it could be: {slowdown}")
