# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast evaluate``: loss and accuracy of a run that was kept."""

import click

from hypercast.host.commands.kept_run import kept_run
from hypercast.host.commands.options import json_option, print_json
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.training.trainer import Trainer

__all__ = ["evaluate"]


@click.command()
@kept_run
@json_option
def evaluate(trainer: Trainer, as_json: bool) -> None:
    """Show loss and accuracy (or F1) of a run, split by split.

    RUN is the folder of `hypercast train --run RUN`. With early stopping, it is the best epoch's
    weights.
    """
    found = trainer.evaluate()
    if as_json:
        print_json(found)
        return
    kinds = [kind for kind in ("accuracy", "micro_f1", "macro_f1") if f"train_{kind}" in found]
    heads = ("split", "loss", *(kind.replace("_f1", " F1") for kind in kinds))
    print_table(make_console(), heads, [
        (split, f"{found[f'{split}_loss']:.4f}",
         *(f"{found[f'{split}_{kind}']:.1%}" for kind in kinds))
        for split in ("train", "validation", "test") if found[f"{split}_loss"] is not None])
