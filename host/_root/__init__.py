"""Hypercast: graph convolutional networks trained on a hypercube of cores, bit for bit."""

import importlib

__all__ = ["Device", "Graph", "Model", "Sampling", "Trainer"]

_HOMES = {"Device": "hypercast.host.description.device", "Graph": "hypercast.host.graph",
          "Model": "hypercast.host.description.model",
          "Sampling": "hypercast.host.description.sampling", "Trainer": "hypercast.host.trainer"}


def __getattr__(name):
    """The public names, imported when they are used first."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
