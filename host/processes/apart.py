# SPDX-License-Identifier: BSD-2-Clause
"""Runs a generator in a process of its own, so that what it holds is not held here."""

import contextlib
import os
import pickle
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator
from importlib.machinery import PathFinder
from typing import Any

from hypercast.errors import HypercastError, InputError
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes.starter import own_environment
from hypercast.safe_path import PYTHON

__all__ = ["UnforeseenError", "apart", "import_path", "told"]

_MAIN = "from hypercast.host.processes.apart import main; main()"
_PROGRESS, _WARNING, _VALUE, _ERROR, _END = "progress", "warning", "value", "error", "end"


class UnforeseenError(Exception):
    """An error in another process which should have been refused with a reason there."""


def apart(task: str, function: Callable[..., Iterator[Any]], *arguments: Any,
          progress: Callable[[str], None]) -> Generator[Any, None, None]:
    """What a generator yields in a new process, one by one.

    That process is alive while the iterator is: it ends with it, and if this process ends in any
    way. It works ahead of what is taken here by one value at most. It is none of the processes that
    MPI started.

    Parameters
    ----------
    task : str
        What it does, for messages: "prepares the graph".
    function : callable
        A function of a module, a generator. It is called with the arguments, and with
        ``progress``.
    *arguments
        They are pickled, and so is what it yields.
    progress : callable
        Called with each line of text of ``function``.

    Raises
    ------
    ClusterError
        If the process was ended, as where memory is used up.
    UnforeseenError
        If it failed with an error that has no message for the user. Other errors are raised here as
        they were there.
    """
    with subprocess.Popen([*PYTHON, "-c", _MAIN], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE,
                          env={**own_environment(), "PYTHONPATH": import_path(function)},
                          start_new_session=True) as process:  # not interrupted with this one
        assert process.stdin and process.stdout
        try:
            process.stdin.write(pickle.dumps((function, arguments)))
            process.stdin.flush()  # but not closed: the process ends when it is
            while True:
                kind, content = pickle.load(process.stdout)
                if kind == _END:
                    return
                if kind == _VALUE:
                    yield content
                    del content
                elif kind == _WARNING:
                    warnings.warn_explicit(*content)
                elif kind == _PROGRESS:
                    progress(content)
                else:
                    raise content
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            raise ClusterError(_ended(task, process.wait())) from error
        finally:
            process.kill()
            with contextlib.suppress(BrokenPipeError):  # of what it has not read
                process.stdin.close()


def import_path(function: Callable[..., object]) -> str:
    """Where another process finds the modules that this one finds, as ``PYTHONPATH`` has it.

    Those of the current folder are files of the user, unless the function is of one of them.
    """
    here, package = os.path.realpath(os.curdir), function.__module__.partition(".")[0]
    return os.pathsep.join(
        path for path in sys.path if path and (
            os.path.realpath(path) != here or PathFinder.find_spec(package, [path])))


def _ended(task: str, status: int) -> str:
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    return (f"the process that {task} {how}; if memory was used up, take a machine with more of "
            f"it, or a smaller graph")


def main() -> None:
    """What the process runs."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed

    def say(kind: str, content: object = None) -> None:
        pickle.dump((kind, content), output, protocol=pickle.HIGHEST_PROTOCOL)
        output.flush()

    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int,
             file: object = None, line: str | None = None) -> None:
        say(_WARNING, (message, category, filename, lineno))

    try:
        function, arguments = pickle.load(sys.stdin.buffer)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        warnings.showwarning = show
        for value in function(*arguments, progress=lambda text: say(_PROGRESS, text)):
            say(_VALUE, value)
            del value
        say(_END)
    except BrokenPipeError:
        os._exit(1)  # nobody listens any more
    except BaseException as error:
        say(_ERROR, told(error))


def _end_with_parent() -> None:
    """End when the other end of standard input is closed, which the kernel does in any case."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def told(error: BaseException) -> BaseException:
    """An error as it is raised elsewhere."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if not isinstance(error, (HypercastError, OSError, MemoryError)):
        unforeseen = UnforeseenError(f"{type(error).__name__}: {error} ({last.filename}, line "
                                     f"{last.lineno})")
        unforeseen.add_note("".join(traceback.format_exception(error)))
        return unforeseen
    try:
        found: BaseException = pickle.loads(pickle.dumps(error))
    except Exception:
        return next(kind(str(error)) for kind in (InputError, HypercastError, OSError, MemoryError)
                    if isinstance(error, kind))
    return found
