"""``hypercast predict``: the classes and logits of a run that was kept."""


from pathlib import Path

import click

from hypercast.host.commands.kept_run import kept_run
from hypercast.host.commands.options import OUTPUT
from hypercast.host.training.trainer import Trainer

__all__ = ["predict"]


@click.command()
@kept_run
@click.option("-o", "output", type=OUTPUT,
              default="predictions.npz", show_default=True, metavar="FILE",
              help="An .npz file with arrays classes and logits, or a .csv file.")
def predict(trainer: Trainer, output: Path) -> None:
    """Predict the class of every vertex with what `hypercast train --run RUN` trained."""
    found = trainer.predict()
    found.save(output)
    click.echo(f"{output}: {len(found.logits)} vertices, {found.logits.shape[1]} classes")
