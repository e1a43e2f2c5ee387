# SPDX-License-Identifier: BSD-2-Clause
"""A training as text: what it begins with, its epochs, and what it ends in."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from hypercast.host.commands.options import layer_orders, score, scores
from hypercast.host.commands.output import print_table
from hypercast.host.compiler.job import Job
from hypercast.host.planner.plan import Plan
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.runtime.comparison import Comparison
from hypercast.host.runtime.utilisation import utilisation
from hypercast.host.training.run_folder import Record
from hypercast.host.training.trainer import Trainer

__all__ = ["epoch_line", "print_beginning", "print_summary", "summarise"]


def print_beginning(console: Console, trainer: Trainer, job: Job | None) -> None:
    """Print what is trained, on what, and which epoch it goes on after."""
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


def epoch_line(record: Record) -> str:
    """Loss and accuracies of an epoch, as text."""
    def percent(name: str) -> str:
        value = score(record, name)
        return "   -  " if value is None else f"{value:6.1%}"
    return (f"loss {record['training_loss']:.4f}  train {percent('train')}  "
            f"validation {percent('validation')}  test {percent('test')}")


def _count(trainer: Trainer) -> str:
    """The epochs done, as text."""
    noun, *rest = trainer.unit.split(" of ")
    return " of ".join([f"{trainer.epoch} {noun}{'' if trainer.epoch == 1 else 's'}", *rest])


def summarise(trainer: Trainer, seconds: float, measured: Mapping[str, Any],
              words: Comparison | None, time: VirtualTime | None,
              plan: Plan | None) -> dict[str, Any]:
    """Sum up what a training ended in, as a command prints it as JSON.

    Parameters
    ----------
    trainer : Trainer
        Has trained to the end.
    seconds : float
        How long that took.
    measured : dict
        What was measured at last, by name.
    words : Comparison, optional
        Words that were compared with the reference, if they were.
    time : VirtualTime, optional
        Time of the boards of a cluster.
    plan : Plan, optional
        The plan that they trained by.
    """
    summary = {**trainer.final, **measured, "seconds": seconds, "saturations": trainer.saturations,
               **trainer.last_step}
    if words:
        summary |= {"words": words.words, "equal_words": words.equal}
    if time:
        summary |= {"board_seconds": time.seconds, "steps": time.steps,
                    "one_board_seconds": time.alone,
                    "waited": dict(zip(time.boards, time.waited, strict=True))}
    if plan:
        summary["planned_step_seconds"] = plan.seconds
    return summary


def print_summary(console: Console, summary: Mapping[str, Any], trainer: Trainer,
                  words: Comparison | None, time: VirtualTime | None) -> None:
    """Print what a training ended in: cycles and engines of a chip, loss, accuracies, and time of
    boards; parameters as of ``summarise``, which gives the summary.
    """
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
    if time:
        console.print(str(time))
        if planned := summary.get("planned_step_seconds"):
            console.print(f"the plan expected {planned * 1e3:.4g} ms a step")
    if words:
        console.print(str(words), style="green" if words.equal == words.words else "red")
