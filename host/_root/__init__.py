# SPDX-License-Identifier: BSD-2-Clause
"""Hypercast: graph convolutional networks trained on a hypercube of cores, bit for bit."""

import importlib

from hypercast.errors import HypercastError

__all__ = ["Boards", "Device", "Graph", "HypercastError", "Model", "Recording", "Sampling",
           "Trainer", "__version__"]

__version__ = "0.2.0"

#: True for what checks types. Nothing is imported for it: with ``python -m hypercast``, modules
#: still come from the current folder first.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from hypercast.host.description.device import Device
    from hypercast.host.description.model import Model
    from hypercast.host.description.sampling import Sampling
    from hypercast.host.graphs.graph import Graph
    from hypercast.host.training.boards import Boards
    from hypercast.host.training.trainer import Trainer
    from hypercast.host.training.trainer_arguments import Recording
else:
    _HOMES = {"Boards": "training.boards", "Device": "description.device",
              "Graph": "graphs.graph", "Model": "description.model",
              "Recording": "training.trainer_arguments", "Sampling": "description.sampling",
              "Trainer": "training.trainer"}

    def __getattr__(name):
        """The public names, imported when they are used first."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"hypercast.host.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
