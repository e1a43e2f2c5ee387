# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast numbers``: how well integers stand for real numbers in a run that was kept."""

import click

from hypercast.host.commands.kept_run import kept_run
from hypercast.host.commands.options import json_option, print_json
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.training.trainer import Trainer

__all__ = ["numbers"]


@click.command()
@kept_run
@json_option
def numbers(trainer: Trainer, as_json: bool) -> None:
    """Show exponent, range and error of each tensor of a run.

    RUN is the folder of `hypercast train --run RUN`. Saturations are shown, too. All are of the
    training step that would follow the run's last, or best, epoch. Errors are relative, and include
    errors of the tensors before.
    """
    found = trainer.numbers()
    if as_json:
        print_json([tensor._asdict() for tensor in found])
        return
    width = trainer.recipe.element_width
    heads = ("tensor", "exponent", "largest", f"bits of {width}", "saturations", "error")
    print_table(make_console(), heads, [
        (tensor.name, str(tensor.exponent), f"{tensor.largest:.4g}", str(tensor.bits),
         f"{tensor.saturations:,}", "" if tensor.error is None else f"{tensor.error:.2e}")
        for tensor in found], f"training step {trainer.epoch + 1}")
