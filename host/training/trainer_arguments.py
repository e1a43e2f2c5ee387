# SPDX-License-Identifier: BSD-2-Clause
"""Checks of what ``Trainer`` is given in Python."""

import contextlib
import os

from hypercast.errors import InputError
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.description.source import Source
from hypercast.host.graphs.graph import Graph
from hypercast.host.transport.transport import Transport
from hypercast.rtl.plain_value import plain_int, plain_value

__all__ = ["check_arguments", "checked_choice", "checked_count"]

#: Classes of each argument, the first of which is named, and an example.
_OBJECTS = {"graph": ((Graph, Source), "Graph.load(...)"), "model": ((Model,), "Model(hidden=16)"),
            "device": ((Device,), 'Device("rtl")'), "sampling": ((Sampling,), "Sampling(...)"),
            "transport": ((Transport,), "an object of a class that is derived from it")}


def check_arguments(*, run: object, progress: object, command: object = "",
                    **objects: object) -> None:
    """Raise ``InputError`` for an argument of the wrong kind; names a remedy.

    Parameters
    ----------
    run, progress, command
        As ``Trainer`` takes them.
    **objects
        Graph, model, device, sampling and transport; all but the graph may be None.
    """
    for name, value in objects.items():
        kinds, example = _OBJECTS[name]
        if not isinstance(value, kinds) and (value is not None or name == "graph"):
            raise InputError(f"{name} must be a {kinds[0].__name__}, not {_text(value)}; give "
                             f"{example}")
    if run is not None and not (isinstance(run, (str, os.PathLike)) and str(run)):
        raise InputError(f"run must be the path of a folder, not {_text(run)}")
    if not isinstance(command, str):
        raise InputError(f"command must be a command line as text, not {_text(command)}")
    if not callable(progress):
        raise InputError(f"progress must be callable with a line of text, not {_text(progress)}")


def checked_count(name: str, value: object) -> int:
    """A whole number, at least 1, as an int; ``InputError`` if it is none."""
    with contextlib.suppress(TypeError):
        if (found := plain_int(value)) >= 1:
            return found
    raise InputError(f"{name} must be a whole number, at least 1, not {_text(value)}")


def checked_choice(name: str, value: object) -> bool:
    """True or False, as a bool; ``InputError`` if it is neither."""
    found = plain_value(value)
    if not isinstance(found, bool):
        raise InputError(f"{name} must be True or False, not {_text(found)}")
    return found


def _text(value: object) -> str:
    return repr(value) if isinstance(value, (str, int, float, type(None))) else \
        f"a {type(value).__name__}"
