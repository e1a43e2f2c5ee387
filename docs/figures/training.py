# SPDX-License-Identifier: BSD-2-Clause
"""The training that figures show: the bundled graph ``blocks`` on the chip of preset ``demo``."""

from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.trainer import Trainer

__all__ = ["trainer"]


def trainer(device: str = "reference") -> Trainer:
    """A trainer that has not begun; ``make demo`` trains the same graph."""
    return Trainer(Graph.load("blocks"), Model(), Device(device, preset="demo"), epochs=2,
                   learning_rate=0.4)
