# SPDX-License-Identifier: BSD-2-Clause
"""Trials one after the other in a process of their own, which may crash or hang."""

import random
import resource
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeAlias

from hypercast.benches.fuzzing.trial import Trial, WrongError
from hypercast.benches.fuzzing.trial_kinds import KINDS, kind_of

__all__ = ["NOTE", "TRACEBACK", "WRONG", "Make", "make_trial", "work"]

#: Beginning of lines that a process prints while it makes a trial.
NOTE = "note"
#: Defects that the process which makes a trial finds itself.
TRACEBACK, WRONG = "traceback", "wrong"
#: Bytes that a trial may take: of addresses, and of memory.
_ADDRESSES, _MEMORY = 6 << 30, 1 << 30
#: A function that makes a trial, as ``make_trial`` does.
Make: TypeAlias = Callable[[int, int, Path, Callable[[str], None]], tuple[str, str]]


def make_trial(seed: int, number: int, folder: Path,
               note: Callable[[str], None] = lambda text: None) -> tuple[str, str]:
    """The outcome of a trial, and the text of an error if there is one.

    Parameters
    ----------
    seed, number : int
        Decide everything.
    folder : pathlib.Path
        The process's own.
    note : callable
        Is told, in a line, of each change.
    """
    kept = folder / "kept"
    kept.mkdir(exist_ok=True)
    own = Path(tempfile.mkdtemp(prefix="trial-", dir=folder))
    before = _peak()
    try:
        outcome = KINDS[kind_of(number)][0](
            Trial(random.Random(f"{seed}/{number}"), own, kept, note))
    except WrongError as error:
        return WRONG, str(error)
    except BaseException:  # click and safetensors raise others than Exception
        return TRACEBACK, traceback.format_exc()
    finally:
        shutil.rmtree(own)
    if _peak() - before > _MEMORY:
        return WRONG, f"took {(_peak() - before) / 2**30:.1f} GiB of memory"
    return outcome, ""


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def work(connection: Connection, make: Make, seed: int, folder: Path) -> None:
    """Make the trials whose numbers come, until None does.

    Parameters
    ----------
    connection : multiprocessing.connection.Connection
        Takes None at the beginning; gives numbers, and takes ``(NOTE, text)``, then
        ``(outcome, text)``.
    make : callable
        Makes a trial, as ``make_trial`` does.
    seed : int
        Seed of all trials.
    folder : pathlib.Path
        An empty one.
    """
    warnings.simplefilter("ignore")
    used = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _ADDRESSES, resource.RLIM_INFINITY))
    connection.send(None)
    while (number := connection.recv()) is not None:
        connection.send(make(seed, number, folder,
                             lambda text: connection.send((NOTE, text))))
