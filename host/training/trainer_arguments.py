# SPDX-License-Identifier: BSD-2-Clause
"""Arguments of ``Trainer`` in Python, and their checks."""

import contextlib
from dataclasses import dataclass

from hypercast.errors import InputError
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import Cluster
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.description.source import Source
from hypercast.host.files.given_path import given_folder
from hypercast.host.graphs.graph import Graph
from hypercast.host.processes.group import Group
from hypercast.host.transport.transport import Transport
from hypercast.rtl.plain_value import plain_int, plain_value
from hypercast.sim.waves import Waves

__all__ = ["Recording", "Sharing", "check_arguments", "checked_choice", "checked_count"]


@dataclass(frozen=True, kw_only=True)
class Recording:
    """Recordings of a simulated chip while it trains; only on ``rtl``.

    Parameters
    ----------
    step : int, optional
        The training step, from 1, whose timeline is recorded.
    waves : Waves, optional
        Waveforms to be written; waveforms ``of_step`` are of that step.

    Raises
    ------
    InputError
        If one of them is something else.
    """

    step: int | None = None
    waves: Waves | None = None

    def __post_init__(self) -> None:
        if self.step is not None:
            object.__setattr__(self, "step", checked_count("step", self.step))
        if not isinstance(self.waves, Waves | None):
            raise InputError(f"waves must be a Waves, not {_text(self.waves)}; give "
                             f"Waves(file=...)")


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """How the processes of one training share it, seen from one of them.

    Parameters
    ----------
    group : Group, optional
        The processes, a board each. The trainer of each has the same arguments; only rank 0's keeps
        a run and trains, the others ``follow``.
    assignment : Assignment, optional
        How they share it. Without a group, what one process computes as boards would; by default as
        in the run that it goes on with.
    cluster : Cluster, optional
        Boards that they stand for, or among which these are: their time is reckoned.
    """

    group: Group | None = None
    assignment: Assignment | None = None
    cluster: Cluster | None = None


#: Classes of each argument, and an example; errors name the first class.
_OBJECTS = {"graph": ((Graph, Source), "Graph.load(...)"), "model": ((Model,), "Model(hidden=16)"),
            "device": ((Device,), 'Device("rtl")'), "sampling": ((Sampling,), "Sampling(...)"),
            "transport": ((Transport,), "an object of a class that is derived from it"),
            "recording": ((Recording,), "Recording(step=1)")}


def check_arguments(*, run: object, progress: object, **objects: object) -> None:
    """Raise ``InputError`` for an argument of the wrong kind; names a remedy.

    Parameters
    ----------
    run, progress
        As ``Trainer`` takes them.
    **objects
        Other arguments, as ``Trainer`` names them; all but the graph may be None.
    """
    for name, value in objects.items():
        kinds, example = _OBJECTS[name]
        if not isinstance(value, kinds) and (value is not None or name == "graph"):
            raise InputError(f"{name} must be a {kinds[0].__name__}, not {_text(value)}; give "
                             f"{example}")
    if run is not None:
        given_folder(run, "run")
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
