# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast predict``: the classes and logits of a run that was kept."""


from pathlib import Path

import click

from hypercast.host.commands.kept_run import kept_run
from hypercast.host.commands.options import OUTPUT, json_option, print_json
from hypercast.host.training.trainer import Trainer

__all__ = ["predict"]


@click.command()
@kept_run
@click.option("-o", "output", type=OUTPUT,
              default="predictions.npz", show_default=True, metavar="FILE",
              help="An .npz file with arrays classes and logits, or a .csv file.")
@json_option
def predict(trainer: Trainer, output: Path, as_json: bool) -> None:
    """Predict the class of every vertex with a run's weights.

    RUN is the folder of `hypercast train --run RUN`.
    """
    found = trainer.predict()
    found.save(output)
    vertices, classes = found.logits.shape
    if as_json:
        print_json({"file": str(output), "vertices": vertices, "classes": classes})
    else:
        click.echo(f"{output}: {vertices} vertices, {classes} classes")
