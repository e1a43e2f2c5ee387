"""``hypercast numbers``: how well integers stand for real numbers in a run that was kept."""

import click
from rich.console import Console
from rich.table import Table

from hypercast.host.commands.kept_run import kept_run
from hypercast.host.commands.options import json_option, print_json
from hypercast.host.training.trainer import Trainer

__all__ = ["numbers"]


@click.command()
@kept_run
@json_option
def numbers(trainer: Trainer, as_json: bool) -> None:
    """Show each tensor's exponent, range, saturations and error against float64.

    They are those of the training step that would follow the run's last, or best, epoch. Errors are
    relative, and include those of the tensors before.
    """
    found = trainer.numbers()
    if as_json:
        print_json([tensor._asdict() for tensor in found])
        return
    width = trainer.recipe.element_width
    table = Table("tensor", "exponent", "largest", f"bits of {width}", "saturations", "error",
                  title=f"training step {trainer.epoch + 1}")
    for tensor in found:
        table.add_row(tensor.name, str(tensor.exponent), f"{tensor.largest:.4g}", str(tensor.bits),
                      f"{tensor.saturations:,}",
                      "" if tensor.error is None else f"{tensor.error:.2e}")
    Console().print(table)
