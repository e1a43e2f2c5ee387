# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast train``: train a graph on the reference or on a chip."""

import contextlib
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from hypercast.host.cluster.assignment import SCHEMES
from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.commands.board_options import (
    check_group,
    check_plan,
    check_staleness,
    described_assignment,
    given,
    started_group,
)
from hypercast.host.commands.command_group import command_line
from hypercast.host.commands.description_options import (
    DESCRIPTION_GROUPS,
    describe,
    description_options,
)
from hypercast.host.commands.interruption import Resumption, interruptible
from hypercast.host.commands.number_types import NumberRange, WholeRange
from hypercast.host.commands.option_groups import CommandWithGroups
from hypercast.host.commands.options import (
    FOLDER,
    OUTPUT,
    json_option,
    layer_orders,
    print_json,
    score,
    scores,
)
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.commands.planned_training import follow_plan, lead_plan, written_plan
from hypercast.host.commands.progress_text import ProgressBar, ProgressText
from hypercast.host.commands.report import write_report
from hypercast.host.commands.wave_options import WAVE_OPTIONS, wave_options
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.job import Job
from hypercast.host.description.description import Description
from hypercast.host.files.durable_file import require_writable
from hypercast.host.planner.plan_file import plan_boards
from hypercast.host.processes.launcher import launch
from hypercast.host.processes.virtual_time import write_timeline
from hypercast.host.runtime.image import write_image
from hypercast.host.runtime.trace import write_trace
from hypercast.host.runtime.utilisation import utilisation
from hypercast.host.schemes.share import Share
from hypercast.host.schemes.shared_devices import SharedDevices
from hypercast.host.schemes.sharing import agree, completed
from hypercast.host.training.run_folder import Record, RunFolder
from hypercast.host.training.trainer import Trainer
from hypercast.sim.waves import Waves

__all__ = ["train"]


@click.command(cls=CommandWithGroups, groups={
    **DESCRIPTION_GROUPS, "Run": ("--run", "--every", "--resume", "--data"),
    "Checking and recording": ("--check", "--trace", "--trace-step", *WAVE_OPTIONS, "--image"),
    "Several boards": ("--boards", "--scheme", "--cluster", "--plan", "--staleness", "--smoothing",
                       "--stages", "--chunks", "--timeout")})
@click.argument("dataset", required=False)
@description_options
@click.option("--check/--no-check", default=None,
              help="Compare every tensor with the reference after every step.  "
                   "[default: but with --device reference, several boards or micro-batches]")
@click.option("--run", "folder", type=FOLDER, metavar="FOLDER",
              help="Keep description, metrics, checkpoint and report.")
@click.option("--every", type=WholeRange(1), default=None,
              help="Epochs from one checkpoint of --run to the next.  [default: 1]")
@click.option("--resume", is_flag=True,
              help="Go on from the checkpoint in --run, with the same bits as if the training had "
                   "never stopped; without DATASET, as described there.")
@click.option("--data", metavar="PATH", type=click.Path(exists=True, path_type=Path),
              help="With --resume: where the run's graph is now, if it is not where it was.")
@click.option("--trace", type=OUTPUT, metavar="FILE.json",
              help="Write the timeline of a training step, for ui.perfetto.dev; with --cluster, of "
                   "its boards and links.")
@click.option("--trace-step", type=WholeRange(1), default=None,
              help="The epoch of which --trace, --vcd and --run record the training step, or that "
                   "of the last sample.  [default: the last]")
@partial(wave_options, of_step=True, since="the start of the training step that is recorded, "
                                           "see --trace-step")
@click.option("--image", type=OUTPUT, metavar="FILE",
              help="Write what a driver loads into the chip, such as that of examples/c.")
@click.option("--boards", type=WholeRange(1, 1024), default=None,
              help="Train on so many boards together, with a process of this machine for each; the "
                   "bits are those of one. Or start hypercast train by mpirun.")
@click.option("--scheme", type=click.Choice(SCHEMES), default=None,
              help="What each board has its own of: some of a step's samples, a part of the graph, "
                   "or a run of layers.  [default: samples with --sampler, else graph]")
@click.option("--cluster", metavar="NAME|FILE",
              help="Train as the boards of a cluster would fastest (see hypercast plan), a process "
                   "of this machine for each. Reckons the time that they would take, by the cycle "
                   "model and links. With --boards or --scheme, which count then, that only.")
@click.option("--plan", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar="FILE.toml",
              help="Train on the boards of --cluster by a plan that hypercast plan -o wrote.")
@click.option("--staleness", is_flag=True,
              help="Boards that share a graph take each other's rows of the step before, and do "
                   "not wait for them; those that have a run of layers, older weights, or with "
                   "--chunks older rows. With --cluster, if that is fastest. The bits are not "
                   "those of one board.")
@click.option("--smoothing", type=NumberRange(0, 1, max_open=True), default=None,
              help="With --staleness: rows of others are a running mean that keeps this share of "
                   "itself in each step.  [default: 0]")
@click.option("--stages", type=WholeRange(1, 1024), default=None,
              help="With --scheme layers and --staleness: weights are stashed for so many stages "
                   "of layers, and those of stage i are as many steps old as there are stages "
                   "after it. The bits are the same on any number of boards.  "
                   "[default: all weights are one step old]")
@click.option("--chunks", type=WholeRange(1), default=None,
              help="With --scheme layers and --staleness, on a whole graph: so many chunks of "
                   "vertices follow each other through the layers; rows of those to come are "
                   "those of the step before, and weights are not older.")
@click.option("--timeout", type=NumberRange(0, 1e7, min_open=True), default=None,
              help="Seconds that a board waits for another.  [default: 600]")
@json_option
@interruptible
def train(dataset: str | None, changes: dict[str, dict[str, Any]], check: bool | None,
          folder: Path | None, every: int | None, resume: bool, data: Path | None,
          trace: Path | None, trace_step: int | None, waves: Waves | None, image: Path | None,
          boards: int | None, scheme: str | None, cluster: str | None, plan: Path | None,
          staleness: bool, smoothing: float | None, stages: int | None, chunks: int | None,
          timeout: float | None, as_json: bool) -> None:
    """Train a graph on the reference, a simulated chip or a board.

    DATASET is blocks (the default), karate, communities, or a file or folder of graphs in a format
    of others; or FILE.toml or FILE.yaml, which describes a training, see docs/tutorial.md.

    The loss is softmax cross-entropy, or, where vertices have several labels, binary cross-entropy.

    Formats are told apart by contents: Planetoid, gnn-benchmark, GraphSAINT, OGB, MUSAE, edge lists
    in an .npz file, and what PyTorch Geometric saves.
    """
    if resume and folder is None:
        raise click.UsageError("--resume goes on with the run in --run FOLDER; give that as well")
    if every and folder is None:
        raise click.UsageError("--every says how often --run keeps a checkpoint; give that as well")
    if data and (dataset or not resume):
        raise click.UsageError("--data says where the graph of a run is that --resume goes on "
                               "with; give that without DATASET, or DATASET alone")
    check_plan(plan, cluster, boards, scheme)
    check_staleness(scheme, plan, staleness=staleness, smoothing=smoothing, stages=stages,
                    chunks=chunks)
    group = started_group(timeout)
    if boards and boards > 1 and not group:
        raise click.exceptions.Exit(launch(boards, sys.argv[1:], Resumption(folder, resume)))
    console = make_console(errors=as_json)
    described = load_cluster(cluster) if cluster else None
    description = describe(dataset, changes, folder if resume else None, data)
    with contextlib.ExitStack() as stack:
        status = stack.enter_context(ProgressText("plan", console))
        if described and not group:
            plan = _started(stack, status, description, described, plan, staleness,
                            boards or scheme, Resumption(folder, resume))
        if group:
            agree(group, given(click.get_current_context(), description, described))
        check_group(group, boards, timeout, scheme, cluster, staleness, plan)
        followed = None
        if plan and described:
            followed = follow_plan(group) if group and group.rank else lead_plan(
                plan, description, described, group, smoothing or 0.0, status.update)
            description = followed.description
    assignment = followed.assignment if followed else described_assignment(
        scheme, staleness, smoothing, stages or 0, chunks or 0)
    if resume and folder and not followed:  # what is older in the run stays so
        if group is None or group.rank == 0:
            kept = RunFolder(folder)
            assignment = kept.assignment(assignment) if kept.has_checkpoint else assignment
        assignment = group.tell(assignment) if group else assignment
    if group and group.rank:
        if description.sampling.sampler:
            Trainer.of_description(description, group=group, assignment=assignment,
                                   cluster=described).follow()
        else:
            Share(group, completed(assignment, description.sampling), described,
                  SharedDevices(description.device)).follow_graph()
        return
    for line in followed.lines if followed else ():
        console.print(line)
    device, config = description.device.name, description.device.config
    if image and description.sampling.sampler:
        raise click.UsageError("--image holds one graph, but this training is on samples; leave "
                               "one of them out")
    timeline = trace if cluster else None
    trace = None if cluster else trace
    if timeline:
        require_writable(timeline)
    pieces = group is not None or description.recipe.micro_batches > 1
    recorded = _recorded_step(device, description.recipe.epochs, folder, trace or waves,
                              trace_step, pieces=pieces)
    check = device != "reference" and not pieces if check is None else check
    graph = followed.graph if followed else None
    if image and group and graph is None and description.graph:
        graph = description.load_graph()  # an image is of the whole one
    with ProgressText(
            "reading the graph", console, lines=group is None) as status, Trainer.of_description(
            description, run=folder, every=every or 1, resume=resume, check=check,
            record_step=recorded, waves=waves, group=group,
            graph=graph, assignment=assignment,
            cluster=described, progress=status.update, command=command_line()) as trainer:
        if (trace or waves or trace_step) and recorded and recorded <= trainer.epoch:
            later = "give a later --trace-step" if trace_step else "raise --epochs"
            raise click.UsageError(f"the training step of epoch {recorded} is to be recorded, but "
                                   f"the checkpoint is of epoch {trainer.epoch}; {later}")
        if trace:
            require_writable(trace)  # fails before the training, not after it
        if image:
            write_image(image, compile_job(trainer.initial, config, edges=trainer.edges),
                        trainer.initial)
        job = trainer.job  # opens the device
        status.stop()
        _print_beginning(console, trainer, job)
        start = time.perf_counter()
        _train(console, trainer, as_json)
        seconds = time.perf_counter() - start
        measured = trainer.evaluate() if trainer.outline.multi_label else {}  # macro F1
        chip = trainer.target.chip
        if trace and chip and chip.profile:
            write_trace(trace, chip.profile, config)
        if folder:
            trainer.keep_numbers()
        time_on_boards = trainer.virtual_time()
        if timeline and time_on_boards:
            write_timeline(timeline, time_on_boards)
        if folder:
            write_report(folder)
    summary = {**trainer.final, **measured, "seconds": seconds, "saturations": trainer.saturations,
               **trainer.last_step}
    words = trainer.words
    if check:
        summary |= {"words": words.words, "equal_words": words.equal}
    if time_on_boards:
        summary |= {"board_seconds": time_on_boards.seconds, "steps": time_on_boards.steps,
                    "one_board_seconds": time_on_boards.alone,
                    "waited": dict(zip(time_on_boards.boards, time_on_boards.waited,
                                       strict=True))}
    if followed:
        summary["planned_step_seconds"] = followed.seconds
    if as_json:
        print_json(summary)
    else:
        _print_summary(console, summary, trainer)
        if time_on_boards:
            console.print(str(time_on_boards))
        if time_on_boards and followed:
            console.print(f"the plan expected {followed.seconds * 1e3:.4g} ms a step")
        if check:
            console.print(str(words), style="green" if words.equal == words.words else "red")
    if words.equal != words.words:
        raise click.exceptions.Exit(1)


def _started(stack: contextlib.ExitStack, status: ProgressText, description: Description,
             cluster: Cluster, plan: Path | None, staleness: bool, otherwise: object,
             hint: Resumption) -> Path | None:
    """Start a process for each board of a plan, which is looked for if there is none.

    Returns the plan if one board is best, or None if something ``otherwise`` says what to do.
    """
    arguments = sys.argv[1:]
    if plan is None:
        if otherwise:
            return None
        plan = stack.enter_context(written_plan(description, cluster, staleness,
                                                status.update))
        arguments = [*arguments, "--plan", str(plan)]
    if (count := plan_boards(plan)) > 1:
        status.stop()
        raise click.exceptions.Exit(launch(count, arguments, hint))
    return plan


def _recorded_step(device: str, epochs: int, folder: Path | None, trace: Path | Waves | None,
                   trace_step: int | None, *, pieces: bool) -> int | None:
    """Number of the epoch of which a step is recorded, from 1; None for none.

    A step in ``pieces``, on several samples or of several boards, is not recorded.
    """
    if device != "rtl":
        if trace or trace_step:
            what = "the reference has no cycles to trace" if device == "reference" \
                else "a board keeps no timeline"
            raise click.UsageError(f"{what}; add --device rtl")
        return None
    if pieces:
        if trace or trace_step:
            raise click.UsageError("a step on several samples, or of several boards, is several "
                                   "programs, of which no timeline is kept; leave out --trace, "
                                   "--vcd and --trace-step, or train on one board, with one "
                                   "sample a step")
        return None
    if not (trace or folder):
        if trace_step:
            raise click.UsageError("--trace-step says which step --trace, --vcd or --run records; "
                                   "give one of them")
        return None
    if trace_step and trace_step > epochs:
        raise click.UsageError(f"--trace-step {trace_step} is beyond the last of {epochs} "
                               f"epochs; raise --epochs")
    return trace_step or epochs


def _print_beginning(console: Console, trainer: Trainer, job: Job | None) -> None:
    graph, config = trainer.outline, trainer.device.config
    console.print(f"{trainer.facts['data set']}: {graph.vertices} vertices, {graph.edge_count} "
                  f"edges, {'-'.join(map(str, trainer.widths))} features, on "
                  f"{trainer.device.name}, "
                  f"{config.cores} cores, {config.lanes} lanes, {config.element_width}-bit "
                  f"elements")
    console.print(layer_orders(trainer.network))
    if trainer.division:
        console.print(str(trainer.division))
    if job:
        console.print(f"the busiest core has {job.imbalance - 1:.1%} more edges than the mean")
    if trainer.epoch:
        console.print(f"going on after epoch {trainer.epoch}")


def _train(console: Console, trainer: Trainer, as_json: bool) -> None:
    """Train to the end, and show how it goes."""
    trainer.progress = console.print
    with ProgressBar(console, trainer.recipe.epochs, trainer.epoch) as progress:
        for record in trainer:
            if as_json:
                print_json(record)
            elif trainer.epoch % 10 == 0 or trainer.finished:
                console.print(f"epoch {trainer.epoch:4}  {_line(record)}")
            progress.update(trainer.epoch, _line(record))


def _line(record: Record) -> str:
    def percent(name: str) -> str:
        value = score(record, name)
        return "   -  " if value is None else f"{value:6.1%}"
    return (f"loss {record['training_loss']:.4f}  train {percent('train')}  "
            f"validation {percent('validation')}  test {percent('test')}")


def _count(trainer: Trainer) -> str:
    """The epochs done, as text."""
    noun, *rest = trainer.unit.split(" of ")
    return " of ".join([f"{trainer.epoch} {noun}{'' if trainer.epoch == 1 else 's'}", *rest])


def _print_summary(console: Console, summary: Mapping[str, Any], trainer: Trainer) -> None:
    if "phases" in summary:
        total = sum(summary["phases"].values())
        print_table(console, ("phase", "cycles", "share"), [
            *((name, f"{cycles:,}", f"{cycles / total:.1%}")
              for name, cycles in summary["phases"].items()),
            ("all", f"{total:,}", "")], "the last training step")
        rows = utilisation(summary["counters"], total, trainer.device.config)
        print_table(console, ("engine", "at work", "limited by"), [
            (row.name, f"{row.work:.1%}", row.limit) for row in rows])
        console.print(f"most used: {max(rows, key=lambda row: row.work).name}")
        last = trainer.history[-1]
        console.print(f"cycles: {last['train_cycles']:,} in {_count(trainer)}, "
                      f"{last['evaluate_cycles']:,} in evaluations")
    if trainer.final is not trainer.history[-1]:
        console.print(f"stopped after epoch {trainer.epoch}; the weights are those of epoch "
                      f"{summary['epoch'] + 1}, the best")
    console.print(f"loss {summary['training_loss']:.4f}, {scores(summary)}")
    console.print(f"{summary['saturations']} saturations, {summary['seconds']:.1f} s")
