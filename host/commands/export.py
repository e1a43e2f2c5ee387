# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast export``: the weights of a run that was kept, for PyTorch."""


from pathlib import Path

import click

from hypercast.host.commands.kept_run import kept_run
from hypercast.host.commands.options import OUTPUT, json_option, print_json
from hypercast.host.training.trainer import Trainer

__all__ = ["export"]


@click.command()
@kept_run
@click.option("-o", "output", type=OUTPUT,
              default="weights.safetensors", show_default=True, metavar="FILE",
              help="A .safetensors file, or a .pt file, a state dictionary (needs PyTorch).")
@json_option
def export(trainer: Trainer, output: Path, as_json: bool) -> None:
    """Write the weights of a run for PyTorch.

    RUN is the folder of `hypercast train --run RUN`. Weights are float32. They are named as in
    PyTorch Geometric's models GCN, GraphSAGE and GIN.
    """
    trainer.save_weights(output)
    size = output.stat().st_size
    if as_json:
        print_json({"file": str(output), "bytes": size})
    else:
        click.echo(f"{output}: {size / 1024:,.0f} KiB")
