# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast train``: train a graph on the reference or on a chip."""

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from hypercast.host.commands.board_options import BOARD_OPTIONS, board_options, facts
from hypercast.host.commands.command_group import command_line
from hypercast.host.commands.description_options import (
    DESCRIPTION_GROUPS,
    describe,
    description_options,
)
from hypercast.host.commands.interruption import Resumption, interruptible
from hypercast.host.commands.number_types import WholeRange
from hypercast.host.commands.option_groups import CommandWithGroups
from hypercast.host.commands.options import FOLDER, OUTPUT, json_option, print_json
from hypercast.host.commands.output import make_console
from hypercast.host.commands.plan_lines import plan_lines
from hypercast.host.commands.progress_text import ProgressBar, ProgressText
from hypercast.host.commands.report import write_report
from hypercast.host.commands.training_text import (
    epoch_line,
    print_beginning,
    print_summary,
    summarise,
)
from hypercast.host.commands.wave_options import WAVE_OPTIONS, wave_options
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.files.durable_file import require_writable
from hypercast.host.processes.mpi_group import world
from hypercast.host.processes.mpirun import launch
from hypercast.host.processes.virtual_time import write_timeline
from hypercast.host.runtime.image import write_image
from hypercast.host.runtime.trace import write_trace
from hypercast.host.training.boards import Boards
from hypercast.host.training.planned_training import start_planned
from hypercast.host.training.recorded_step import check_to_come, choose_recorded_step
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Recording
from hypercast.host.training.training_session import Session
from hypercast.sim.waves import Waves

__all__ = ["train"]


@click.command(cls=CommandWithGroups, groups={
    **DESCRIPTION_GROUPS, "Run": ("--run", "--every", "--resume", "--data"),
    "Checking and recording": ("--check", "--trace", "--trace-step", *WAVE_OPTIONS, "--image"),
    "Several boards": BOARD_OPTIONS})
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
@board_options
@json_option
@interruptible
def train(dataset: str | None, changes: dict[str, dict[str, Any]], check: bool | None,
          folder: Path | None, every: int | None, resume: bool, data: Path | None,
          trace: Path | None, trace_step: int | None, waves: Waves | None, image: Path | None,
          boards: Boards, as_json: bool) -> None:
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
    group = world(boards.seconds)
    hint = Resumption(folder, resume)
    console = make_console(errors=as_json)
    status = ProgressText("plan", console)

    def start_boards(count: int, arguments: Sequence[str]) -> NoReturn:
        status.stop()
        raise click.exceptions.Exit(launch(count, arguments, hint))

    if not group and (boards.count or 1) > 1:
        start_boards(boards.count or 1, sys.argv[1:])
    description = describe(dataset, changes, folder if resume else None, data)
    with status:
        planned = None if group or not boards.planned else start_planned(
            boards, description, sys.argv[1:], start_boards, status.update)
        session = Session(
            description, boards, group=group, planned=planned, run=folder, resume=resume,
            facts=facts(click.get_current_context(), description, boards.described)
            if group else {}, progress=status.update)
    if not session.leads:
        session.follow()
        return
    planned, description = session.planned, session.description
    for line in plan_lines(planned.plan, planned.problem) if planned else ():
        console.print(line)
    device, config = description.device.name, description.device.config
    if image and description.sampling.sampler:
        raise click.UsageError("--image holds one graph, but this training is on samples; leave "
                               "one of them out")
    timeline = trace if boards.cluster else None
    trace = None if boards.cluster else trace
    if timeline:
        require_writable(timeline)
    pieces = session.shared or description.recipe.micro_batches > 1
    traced = trace is not None or waves is not None
    recorded = choose_recorded_step(
        device, description.recipe.epochs, wanted=trace_step, traced=traced,
        kept=folder is not None, pieces=pieces)
    check = device != "reference" and not pieces if check is None else check
    graph = None
    if image and session.shared and description.graph:
        graph = description.load_graph()  # an image is of the whole one
    with ProgressText(
            "reading the graph", console, lines=not session.shared) as reading, session.trainer(
            every=every or 1, check=check, recording=Recording(step=recorded, waves=waves),
            graph=graph, progress=reading.update) as trainer:
        trainer.command = command_line()
        if recorded and (traced or trace_step):
            check_to_come(recorded, trainer.epoch, wanted=trace_step)
        if trace:
            require_writable(trace)  # fails before the training, not after it
        if image:
            write_image(image, compile_job(trainer.initial, config, edges=trainer.edges),
                        trainer.initial)
        job = trainer.job  # opens the device
        reading.stop()
        print_beginning(console, trainer, job)
        begun = time.perf_counter()
        _train(console, trainer, as_json)
        seconds = time.perf_counter() - begun
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
    words = trainer.words if check else None
    summary = summarise(trainer, seconds, measured, words, time_on_boards,
                        planned.plan if planned else None)
    if as_json:
        print_json(summary)
    else:
        print_summary(console, summary, trainer, words, time_on_boards)
    if words and words.equal != words.words:
        raise click.exceptions.Exit(1)


def _train(console: Console, trainer: Trainer, as_json: bool) -> None:
    """Train to the end, and show how it goes."""
    trainer.progress = console.print
    with ProgressBar(console, trainer.recipe.epochs, trainer.epoch) as progress:
        for record in trainer:
            if as_json:
                print_json(record)
            elif trainer.epoch % 10 == 0 or trainer.finished:
                console.print(f"epoch {trainer.epoch:4}  {epoch_line(record)}")
            progress.update(trainer.epoch, epoch_line(record))
