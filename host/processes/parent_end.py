# SPDX-License-Identifier: BSD-2-Clause
"""Has a process that is started end with the one that starts it, even if that one is killed."""

import ctypes
import os
import signal
from collections.abc import Callable

__all__ = ["ends_with_this"]

#: Of Linux' ``prctl(2)``: a signal that a process gets when the thread that started it ends.
_PR_SET_PDEATHSIG = 1


def ends_with_this() -> Callable[[], None]:
    """What a new process calls first (``preexec_fn``), to get SIGTERM when this thread ends.

    It stays so in the program that the process goes on to run. Where the system has no such thing,
    it does nothing.
    """
    parent = os.getpid()
    try:
        prctl = ctypes.CDLL(None).prctl
    except (AttributeError, OSError, TypeError):
        return lambda: None

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:  # it ended before it was asked
            os._exit(128 + signal.SIGTERM)

    return ask
