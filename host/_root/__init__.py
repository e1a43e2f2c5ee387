"""Hypercast: graph convolutional networks trained on a hypercube of cores, bit for bit."""

import importlib

__all__ = ["Device", "Graph", "Model", "Sampling", "Trainer"]

_HOMES = {"Device": "training.description.device", "Graph": "graphs.graph",
          "Model": "training.description.model", "Sampling": "training.description.sampling",
          "Trainer": "training.trainer"}


def __getattr__(name: str) -> object:
    """The public names, imported when they are used first."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(f"hypercast.host.{_HOMES[name]}"), name)
    return found
