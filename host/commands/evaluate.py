"""``hypercast evaluate``: loss and accuracy of a run that was kept."""

import click
from rich.console import Console
from rich.table import Table

from hypercast.host.commands.kept_run import kept_run
from hypercast.host.commands.options import json_option, print_json
from hypercast.host.training.trainer import Trainer

__all__ = ["evaluate"]


@click.command()
@kept_run
@json_option
def evaluate(trainer: Trainer, as_json: bool) -> None:
    """Evaluate what `hypercast train --run RUN` trained: loss and accuracy (or F1) of each split.

    With early stopping, it is the best epoch's weights.
    """
    found = trainer.evaluate()
    if as_json:
        print_json(found)
        return
    kinds = [kind for kind in ("accuracy", "micro_f1", "macro_f1") if f"train_{kind}" in found]
    table = Table("split", "loss", *(kind.replace("_f1", " F1") for kind in kinds))
    for split in ("train", "validation", "test"):
        if found[f"{split}_loss"] is not None:
            table.add_row(split, f"{found[f'{split}_loss']:.4f}",
                          *(f"{found[f'{split}_{kind}']:.1%}" for kind in kinds))
    Console().print(table)
