# SPDX-License-Identifier: BSD-2-Clause
"""Processor time and peak memory of a part of a process's work."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Part", "measure_part"]


class Part(NamedTuple):
    """A part of a process's work.

    Attributes
    ----------
    name : str
        The work.
    seconds : float
        Processor time of all threads.
    peak : float
        The process's peak of memory during the part, in GB.
    failure : str
        Why it was not done; empty if it was.
    """

    name: str
    seconds: float
    peak: float
    failure: str = ""


def measure_part(name: str, function: Callable[..., Any], *arguments: Any,
                 failures: tuple[type[Exception], ...] = (), **named: Any) -> tuple[Part, Any]:
    """Call a function, and measure it; on Linux only.

    Parameters
    ----------
    name : str
        Name of the part.
    function : callable
        The work.
    failures : tuple of type
        Exceptions that make a part with a ``failure``; others are raised.
    *arguments, **named
        What the function is called with.

    Returns
    -------
    tuple
        The ``Part``, and what the function returned, None if it failed.
    """
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted anew
    start, result, failure = time.process_time(), None, ""
    try:
        result = function(*arguments, **named)
    except failures as error:
        failure = str(error) or type(error).__name__
    seconds = time.process_time() - start
    peak = next(int(line.split()[1]) for line in Path("/proc/self/status").open()
                if line.startswith("VmHWM"))
    return Part(name, seconds, peak * 1024 / 1e9, failure), result
