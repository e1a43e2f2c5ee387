"""``hypercast train``: train a graph on the reference or on a chip."""

import dataclasses
import time
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from hypercast.host import datasets
from hypercast.host.commands.options import (
    configuration,
    expected_errors,
    json_option,
    layer_orders,
    order_option,
    print_json,
)
from hypercast.host.commands.splits import split_options
from hypercast.host.comparison import Comparison, compare
from hypercast.host.compiler import compile_job
from hypercast.host.devices import ReferenceDevice
from hypercast.host.image import write_image
from hypercast.host.link.discovery import serial_address
from hypercast.host.report.folder import RunWriter
from hypercast.host.trace import write_trace
from hypercast.host.training import DEVICES, open_device, prepare
from hypercast.host.utilisation import utilisation
from hypercast.host.xdma_transport import XDMA, xdma_path
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import NORMALISATIONS, Recipe
from hypercast.rtl.isa import Split

__all__ = ["train"]

_SPLITS = (Split.TRAIN, Split.VALIDATION, Split.TEST)


class _Numbers(click.ParamType):
    """Numbers separated by commas, one per layer."""

    name = "NUMBERS"

    def convert(self, value, parameter, context):
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(part) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is not a number or a list like 0.5,0.1", parameter, context)


class _Widths(click.ParamType):
    """Whole numbers separated by commas, one per hidden layer."""

    name = "WIDTHS"

    def convert(self, value, parameter, context):
        if isinstance(value, tuple):
            return value
        try:
            widths = tuple(int(part) for part in value.split(","))
        except ValueError:
            widths = ()
        if not widths or min(widths) < 1:
            self.fail(f"{value!r} is not a whole number from 1 on, or a list like 32,16",
                      parameter, context)
        return widths


class _Device(click.ParamType):
    """The name of a device."""

    name = "DEVICE"

    def convert(self, value, parameter, context):
        if value not in DEVICES:
            try:
                (xdma_path if value.startswith(XDMA) else serial_address)(value)
            except ValueError as error:
                self.fail(f"{error}; or {' or '.join(('xdma:FILE', *DEVICES))}", parameter, context)
        return value


def _epoch_record(epoch, trained, tested, device):
    record = {"epoch": epoch, "training_loss": trained.mean_loss(Split.TRAIN)}
    for split in _SPLITS:
        record[f"{split.name.lower()}_loss"] = tested.mean_loss(split)
        record[f"{split.name.lower()}_accuracy"] = tested.accuracy(split)
    if hasattr(device, "train_cycles"):
        record["train_cycles"] = device.train_cycles
    return {name: None if value != value else value for name, value in record.items()}


@click.command()
@click.argument("dataset", default="blocks")
@expected_errors
@configuration("demo")
@split_options
@click.option("--device", type=_Device(), default="reference", show_default=True,
              help="reference: NumPy. rtl: the whole chip, simulated. serial[:PORT][@BAUD]: a "
                   "board on a serial port, found if PORT is left out. xdma:FILE: a board on PCIe.")
@click.option("--epochs", type=click.IntRange(1), default=200, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Of initial weights and dropout.")
@click.option("--model", type=click.Choice(list(MODELS)), default="gcn", show_default=True,
              help="GCN, GraphSAGE with means, or GIN.")
@click.option("--layers", type=click.IntRange(1), default=2, show_default=True,
              help="Graph convolutions.")
@click.option("--hidden", type=_Widths(), default=(16,), show_default="16",
              help="Features of every hidden layer: one number, or one per layer.")
@click.option("--residual", is_flag=True,
              help="Hidden convolutions of as many outputs as inputs add these to their sums.")
@click.option("--jumping", is_flag=True,
              help="A linear layer takes the outputs of all convolutions side by side.")
@order_option
@click.option("--dropout", type=click.FloatRange(0, 1, max_open=True), default=0.5,
              show_default=True, help="On the input of every convolution.")
@click.option("--learning-rate", type=_Numbers(), default=None,
              help="Of weights: one number, or one per layer.  [default: 0.05]")
@click.option("--bias-learning-rate", type=_Numbers(), default=None,
              help="Of biases, likewise.  [default: 0.05]")
@click.option("--weight-decay", type=_Numbers(), default=None,
              help="Of weights, likewise.  [default: 0.005,0]")
@click.option("--momentum", type=click.FloatRange(0, 1, max_open=True), default=0.9,
              show_default=True)
@click.option("--normalisation", type=click.Choice(NORMALISATIONS), default=None,
              help="Of edge weights.  [default: " + ", ".join(
                  f"{kind} for {model}" for model, kind in MODELS.items()) + "]")
@click.option("--normalise-features", is_flag=True,
              help="Divide each vertex's features by their sum.")
@click.option("--check/--no-check", default=None,
              help="Compare every tensor with the reference after every step.  "
                   "[default: but with --device reference]")
@click.option("--run", "folder", type=click.Path(path_type=Path, file_okay=False),
              metavar="FOLDER", help="Keep what `hypercast report` shows.")
@click.option("--trace", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.json",
              help="Write the timeline of a training step, for ui.perfetto.dev.")
@click.option("--trace-step", type=click.IntRange(1), default=None,
              help="Which training step --trace and --run record.  [default: the last]")
@click.option("--image", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write what a driver loads into the chip, such as that of examples/c.")
@json_option
def train(dataset, config, device, model, layers, hidden, residual, jumping, order, dropout, check,
          as_json, learning_rate, bias_learning_rate, weight_decay, normalisation, epochs, folder,
          trace, trace_step, image, resplit, **recipe):
    """Train DATASET: karate, blocks, or a file or folder of graphs in a format of others.

    Formats are told apart by contents: Planetoid, gnn-benchmark, GraphSAINT, OGB, MUSAE, edge lists
    in an .npz file, and what PyTorch Geometric saves.
    """
    console = Console(stderr=as_json)
    recorded = _recorded_step(device, epochs, folder, trace, trace_step)
    if trace:
        trace.touch()  # so that a path that cannot be written fails before the training
    graph = resplit(datasets.load(dataset))
    network = model_network(
        model, graph.features.shape[1], _hidden_widths(hidden, layers - 1 + jumping), graph.classes,
        dropout=dropout, residual=residual, jumping=jumping)
    if order != "auto":
        network = network.ordered(
            order if order in layer.orders else layer.orders[0] for layer in network.layers)
    widths = [graph.features.shape[1], *(layer.features_out for layer in network.layers)]
    rates = {"learning_rates": learning_rate, "bias_learning_rates": bias_learning_rate,
             "weight_decays": weight_decay}
    recipe = Recipe(epochs=epochs, element_width=config.element_width,
                    normalisation=normalisation or MODELS[model], **recipe,
                    **{name: values for name, values in rates.items() if values})
    prepared = prepare(graph, network, recipe, config if order == "auto" else None)
    network = prepared.network
    console.print(f"{dataset}: {graph.vertices} vertices, {graph.edges.nnz} edges, "
                  f"{'-'.join(map(str, widths))} features, on {device}, {config.cores} cores, "
                  f"{config.lanes} lanes, {config.element_width}-bit elements")
    console.print(layer_orders(network))
    if image:
        write_image(image, compile_job(prepared, config), prepared)
    with console.status("opening the device") as status:
        target = open_device(device, prepared, config, progress=status.update)
    if device != "reference":
        console.print(f"the busiest core has {target.job.imbalance - 1:.1%} more edges than the "
                      f"mean")
    check = device != "reference" if check is None else check
    oracle = ReferenceDevice(prepare(graph, network, recipe)) if check else None
    run = folder and RunWriter(folder, config, {
        "data set": dataset, "split": str(resplit), "vertices": graph.vertices,
        "edges": int(graph.edges.nnz), "model": model, "features": widths,
        "orders": [layer.order for layer in network.layers], "dropout": dropout, "device": device,
        **dataclasses.asdict(recipe)}, getattr(target, "job", None))
    words = Comparison()
    saturations = 0
    start = time.perf_counter()
    try:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                   TimeElapsedColumn())
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("training", total=epochs)
            for epoch in range(epochs):
                record_step = epoch + 1 == recorded
                trained = target.train_step(**{"record": True} if record_step else {})
                step = _step_profile(target)
                if oracle:
                    oracle.train_step()
                    words.add(compare(oracle.snapshot(), target.snapshot(), config.lanes))
                tested = target.evaluate()
                record = _epoch_record(epoch, trained, tested, target)
                saturations += target.saturations
                if run:
                    run.epoch(record, target)
                if run and record_step:
                    run.step(recorded, target.profile)
                if trace and record_step:
                    write_trace(trace, target.profile, config)
                if as_json:
                    print_json(record)
                progress.update(task, advance=1, description=_line(record))
                if not as_json and (epoch % 10 == 9 or epoch == epochs - 1):
                    console.print(f"epoch {epoch + 1:4}  {_line(record)}")
    finally:
        target.close()
    seconds = time.perf_counter() - start
    summary = {**record, "seconds": seconds, "saturations": saturations, **step}
    if oracle:
        summary |= {"words": words.words, "equal_words": words.equal}
    if as_json:
        print_json(summary)
    else:
        _print_summary(console, summary, target, config, epochs)
        if oracle:
            console.print(str(words), style="green" if words.equal == words.words else "red",
                          highlight=False)
    if words.equal != words.words:
        raise click.exceptions.Exit(1)


def _hidden_widths(widths, layers):
    """One for each of the hidden layers."""
    if len(widths) not in (1, layers):
        raise click.UsageError(f"--hidden gives {len(widths)} widths, but there are {layers} "
                               f"hidden layers; give one for all of them, or one each")
    return widths * layers if len(widths) == 1 else widths


def _recorded_step(device, epochs, folder, trace, trace_step):
    """Number of the training step whose timeline is recorded, from 1; None for none."""
    if device != "rtl":
        if trace or trace_step:
            what = "the reference has no cycles to trace" if device == "reference" \
                else "a board keeps no timeline"
            raise click.UsageError(f"{what}; add --device rtl")
        return None
    if not (trace or folder):
        if trace_step:
            raise click.UsageError("--trace-step says which step --trace or --run records; give "
                                   "one of them")
        return None
    if trace_step and trace_step > epochs:
        raise click.UsageError(f"--trace-step {trace_step} is beyond the last of {epochs} "
                               f"training steps; raise --epochs")
    return trace_step or epochs


def _line(record):
    def percent(name):
        value = record[f"{name}_accuracy"]
        return "   -  " if value is None else f"{value:6.1%}"
    return (f"loss {record['training_loss']:.4f}  train {percent('train')}  "
            f"validation {percent('validation')}  test {percent('test')}")


def _step_profile(target):
    """Cycles of a training step by phase, and its counters; nothing for the reference."""
    if not hasattr(target, "phase_cycles"):
        return {}
    return {"phases": {name: cycles for name, cycles in target.phase_cycles.items() if cycles},
            "counters": target.counters}


def _print_summary(console, summary, target, config, epochs):
    if "phases" in summary:
        total = sum(summary["phases"].values())
        table = Table("phase", "cycles", "share", title="the last training step")
        for name, cycles in summary["phases"].items():
            table.add_row(name, f"{cycles:,}", f"{cycles / total:.1%}")
        table.add_row("all", f"{total:,}", "")
        console.print(table)
        table = Table("engine", "at work", "limited by")
        rows = utilisation(summary["counters"], total, config)
        for row in rows:
            table.add_row(row.name, f"{row.work:.1%}", row.limit)
        console.print(table)
        console.print(f"most used: {max(rows, key=lambda row: row.work).name}")
        console.print(f"cycles: {target.train_cycles:,} in {epochs} training steps, "
                      f"{target.evaluate_cycles:,} in evaluations")
    console.print(f"loss {summary['training_loss']:.4f}, accuracy: " + ", ".join(
        f"{split.name.lower()} {summary[f'{split.name.lower()}_accuracy']:.1%}"
        for split in _SPLITS if summary[f"{split.name.lower()}_accuracy"] is not None))
    console.print(f"{summary['saturations']} saturations, {summary['seconds']:.1f} s")
