# SPDX-License-Identifier: BSD-2-Clause
"""Processes that this one starts, which run a function of ours, talk with it, and end with it."""

import contextlib
import ctypes
import enum
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator
from importlib.machinery import PathFinder
from typing import Any

from hypercast.errors import HypercastError, InputError
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes.launcher_variables import find_start, own_environment
from hypercast.safe_path import PYTHON

__all__ = ["CODE", "GRACE", "Connection", "Kind", "Parent", "UnforeseenError", "die_with_parent",
           "import_path", "in_child_process", "show"]

#: What a child runs; it is given the ``place`` of its ``Parent``, too.
CODE = "from hypercast.host.processes.child_process import main; main()"
#: Seconds that processes are given to end by themselves.
GRACE = 10.0
#: Of Linux' ``prctl(2)``: a signal that a process gets when the thread that started it ends.
_PR_SET_PDEATHSIG = 1


Kind = enum.Enum("Kind", "PROGRESS WARNING VALUE ERROR END")  # of messages of a child


class UnforeseenError(Exception):
    """An error in another process which should have been refused with a reason there."""


def in_child_process(task: str, function: Callable[..., Iterator[Any]], *arguments: Any,
                     progress: Callable[[str], None]) -> Generator[Any, None, None]:
    """Values of a generator in a new process, one by one, so that its memory is not held here.

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
    ours, theirs = socket.socketpair()
    with contextlib.closing(Connection(ours)) as connection, theirs, subprocess.Popen(
            [*PYTHON, "-c", CODE, str(theirs.fileno())], pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, stdout=sys.__stderr__,
            env={**own_environment(), "PYTHONPATH": import_path(function)},
            start_new_session=True) as process:  # not interrupted with this one
        theirs.close()
        try:
            connection.send(Kind.VALUE, (_generate, (function, arguments)))
            while True:
                kind, content = connection.take()
                if kind == Kind.END:
                    return
                if kind == Kind.VALUE:
                    yield content
                    del content
                else:
                    show(kind, content, progress)
        except EOFError as error:
            status = process.wait()
            how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            raise ClusterError(f"the process that {task} {how}; if memory was used up, take a "
                               f"machine with more of it, or a smaller graph") from error
        finally:
            process.kill()


def _generate(parent: "Parent", function: Callable[..., Iterator[Any]],
              arguments: tuple[Any, ...]) -> None:
    """Run the function in the process, and answer with its values."""
    warnings.showwarning = parent.warn
    for value in function(*arguments, progress=parent.progress):
        parent.answer(value)
        del value


def show(kind: Kind, content: Any, progress: Callable[[str], None]) -> None:
    """Have a child's message that is no value have its effect here."""
    if kind == Kind.PROGRESS:
        progress(content)
    elif kind == Kind.WARNING:
        warnings.warn_explicit(*content)
    else:
        raise content


def import_path(function: Callable[..., object]) -> str:
    """Folders where another process finds this one's modules, for ``PYTHONPATH``.

    The current folder is left out, as its files are the user's, unless the function is in it.
    """
    here, package = os.path.realpath(os.curdir), function.__module__.partition(".")[0]
    return os.pathsep.join(
        path for path in sys.path if path and (
            os.path.realpath(path) != here or PathFinder.find_spec(package, [path])))


def die_with_parent() -> Callable[[], None]:
    """A function that any process calls first (``preexec_fn``), to get SIGTERM when this one ends.

    It is this thread that counts. Where the system has no such thing, it does nothing.
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


class Connection:
    """One end of a connection of two processes.

    Parameters
    ----------
    end : socket.socket
        A stream.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._input, self._output = end.makefile("rb"), end.makefile("wb")
        self._lock = threading.Lock()

    def send(self, kind: Kind, content: object = None) -> None:
        """Send a message; raises ``EOFError`` if the other end is closed."""
        try:
            with self._lock:
                pickle.dump((kind, content), self._output, pickle.HIGHEST_PROTOCOL)
                self._output.flush()
        except ConnectionError as error:
            raise EOFError from error

    def take(self) -> tuple[Kind, Any]:
        """The next message; raises ``EOFError`` if the other end is closed."""
        try:
            kind, content = pickle.load(self._input)
        except (ConnectionError, pickle.UnpicklingError) as error:
            raise EOFError from error
        return kind, content

    def close(self) -> None:
        """Close it, which the other end notices, and a thread that receives from this one."""
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)
        self._end.close()  # when nobody has its files any more


class Parent(Connection):
    """The process that started this one, as this one talks with it; if it ends, so does this one.

    Parameters
    ----------
    place : str
        The number of an open socket, or the path of one where it listens. There, it is told the
        rank of this process.
    """

    def __init__(self, place: str) -> None:
        passed_on = place.isdigit()
        end = socket.socket(fileno=int(place)) if passed_on else socket.socket(socket.AF_UNIX)
        end.set_inheritable(False)
        super().__init__(end)
        if not passed_on:
            end.connect(place)
            one = find_start()
            self.answer(one.rank if one else 0)
        self._received: queue.SimpleQueue[tuple[Kind, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Take what comes; end when the other end is closed, which the kernel does in any case."""
        while True:
            try:
                message = self.take()
            except EOFError:
                os._exit(1)
            except BaseException as error:  # a module cannot be imported, say
                message = Kind.ERROR, error
            self._received.put(message)
            del message

    def receive(self) -> Any:
        """The child's next message; waits for it."""
        kind, content = self._received.get()
        if kind == Kind.ERROR:
            raise content
        return content

    def answer(self, value: object) -> None:
        """Give it a value."""
        self.send(Kind.VALUE, value)

    def progress(self, text: str) -> None:
        """Have it show a line of text."""
        self.send(Kind.PROGRESS, text)

    def warn(self, message: Warning | str, category: type[Warning], filename: str, lineno: int,
             file: object = None, line: str | None = None) -> None:
        """Have it show a warning; as ``warnings.showwarning``."""
        self.send(Kind.WARNING, (message, category, filename, lineno))


def main() -> None:
    """Run, in a child, the function that it is sent."""
    parent = Parent(sys.argv[1])
    try:
        function, arguments = parent.receive()
        function(parent, *arguments)
        parent.send(Kind.END)
    except BaseException as error:
        with contextlib.suppress(EOFError):
            parent.send(Kind.ERROR, _make_portable(error))
        time.sleep(GRACE)  # until all are ended, so that mpirun says nothing of this one
        os._exit(1)


def _make_portable(error: BaseException) -> BaseException:
    """An error that another process can raise: the same, or one of its kind with its text."""
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
