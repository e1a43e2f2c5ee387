# SPDX-License-Identifier: BSD-2-Clause
"""The command line: ``hypercast``."""

import click

from hypercast import __version__
from hypercast.host.commands.area import area
from hypercast.host.commands.bench import bench
from hypercast.host.commands.build import build
from hypercast.host.commands.command_group import CommandGroup
from hypercast.host.commands.config import config
from hypercast.host.commands.doctor import doctor
from hypercast.host.commands.evaluate import evaluate
from hypercast.host.commands.examples import examples
from hypercast.host.commands.explore import explore
from hypercast.host.commands.export import export
from hypercast.host.commands.model import model
from hypercast.host.commands.noc import noc
from hypercast.host.commands.numbers import numbers
from hypercast.host.commands.plan import plan
from hypercast.host.commands.predict import predict
from hypercast.host.commands.report import report
from hypercast.host.commands.selftest import selftest
from hypercast.host.commands.simulate import simulate
from hypercast.host.commands.train import train
from hypercast.host.commands.verify import verify
from hypercast.host.commands.verilog import verilog

__all__ = ["main"]


@click.group(cls=CommandGroup, context_settings={
    "help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
def main() -> None:
    """Hypercast: graph convolutional networks trained on a hypercube of cores, bit for bit."""


for command in (area, bench, build, config, doctor, evaluate, examples, explore, export, model, noc,
                numbers, plan, predict, report, selftest, simulate, train, verify, verilog):
    main.add_command(command)
