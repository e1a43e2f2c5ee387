# SPDX-License-Identifier: BSD-2-Clause
"""Processes of this machine that train for this one, a board each: started, told, and ended."""

import atexit
import contextlib
import os
import queue
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

from hypercast.errors import HypercastError
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes.apart import import_path, told
from hypercast.host.processes.group import Group
from hypercast.host.processes.launcher import environment, passed_on, places, reason, several
from hypercast.host.processes.mpi_group import world
from hypercast.host.processes.own_folder import SHARED_MEMORY, OwnFolder
from hypercast.host.processes.starter import started

__all__ = ["BoardProcesses", "Parent"]

_MAIN = "from hypercast.host.processes.board_processes import main; main()"
_PROGRESS, _WARNING, _VALUE, _ERROR = "progress", "warning", "value", "error"
#: Bytes that the path of a socket may have, everywhere.
_LONGEST = 100
#: Seconds from one look at whether processes are alive to the next.
_PAUSE = 0.2
#: Seconds that processes are given to end by themselves; and for what goes on when one has failed,
#: so that of several that find the same, the first one is named.
_GRACE, _PATIENCE = 10.0, 0.5


class Parent(Protocol):
    """The process that started all, as the leader talks with it."""

    def receive(self) -> Any:
        """What it says next; waits for it."""

    def answer(self, value: object) -> None:
        """Give it a value."""

    def progress(self, text: str) -> None:
        """Have it show a line of text."""


class BoardProcesses:
    """Processes of this machine, one for each board, that MPI joins; this one is none of them.

    They end when this process does, in any way, and when one of them fails.

    Parameters
    ----------
    count : int
        How many.
    seconds : float
        How long one of them waits for another.
    function : callable
        A function of a module, which each calls with its ``Group``, with a ``Parent`` on the
        leader and None elsewhere, and with the arguments.
    *arguments
        They are pickled.
    progress : callable
        Called with each line of text that the leader shows.
    hint : callable
        Gives what to do where a signal has ended all.

    Raises
    ------
    ClusterError
        By every method, if a process was ended, or does not answer to others. Errors with a message
        for the user are raised here as they were there; of a board that is not the first, the
        message names it.
    UnforeseenError
        If a process failed with another error.
    """

    def __init__(self, count: int, seconds: float, function: Callable[..., None], *arguments: Any,
                 progress: Callable[[str], None], hint: Callable[[], str]) -> None:
        if (one := started()) and one.several:
            raise ClusterError(f"{one.variable} says that this process was started with others, "
                               f"but boards are given, which it starts itself; start it alone, or "
                               f"start hypercast train by mpirun")
        self._progress, self._hint = progress, hint
        self._connections: list[Connection] = []
        self._notices: list[str] = []
        self._said = False
        self._ended: str | None = None
        self._stack = contextlib.ExitStack()
        atexit.register(self.kill)
        try:
            self._start(count, seconds, function, arguments)
        except BaseException:
            self.kill()
            raise

    def _start(self, count: int, seconds: float, function: Callable[..., None],
               arguments: tuple[Any, ...]) -> None:
        server = self._stack.enter_context(socket.socket(socket.AF_UNIX))
        path = str(self._folder() / "socket")
        server.bind(path)
        server.listen(count)
        self._process = subprocess.Popen(
            several(count, _MAIN, path), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
            env={**environment(count), **places(self._stack),
                 "PYTHONPATH": import_path(function)})
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        found: dict[int, Connection] = {}
        while len(found) < count:
            if not select.select([server], [], [], _PAUSE)[0]:
                if self._process.poll() is not None:
                    raise self._failure()
                continue
            connection = Connection(server.accept()[0].detach())
            self._connections.append(connection)
            with contextlib.suppress(EOFError, ConnectionError):
                found[connection.recv()] = connection
        self._connections = [found[rank] for rank in range(count)]
        for connection in self._connections:
            connection.send((seconds, function, arguments))

    def _folder(self) -> Path:
        """A folder of this user alone, whose path is short enough."""
        for base in (Path(tempfile.gettempdir()), Path("/tmp"), SHARED_MEMORY):
            if len(os.fsencode(base)) < _LONGEST - 40 and os.access(base, os.W_OK | os.X_OK):
                return self._stack.enter_context(OwnFolder(base)).path
        raise ClusterError(f"{tempfile.gettempdir()}, for temporary files, cannot be written to, "
                           f"or has too long a path; set TMPDIR to another folder")

    def _read(self) -> None:
        assert self._process.stderr
        self._said, self._notices = passed_on(self._process.stderr, sys.stderr)

    def say(self, value: object) -> None:
        """Give the leader a value, and do not wait for it."""
        self._check()
        try:
            self._connections[0].send(value)
        except (ConnectionError, OSError):
            raise self._failure() from None
        except BaseException:
            self.kill()
            raise

    def hear(self) -> Any:
        """What the leader answers next; waits for it."""
        self._check()
        try:
            while True:
                for connection in wait(self._connections):
                    assert isinstance(connection, Connection)
                    try:
                        kind, content = connection.recv()
                    except (EOFError, ConnectionError):
                        raise self._failure() from None
                    if kind == _VALUE:
                        return content
                    if kind == _PROGRESS:
                        self._progress(content)
                    elif kind == _WARNING:
                        warnings.warn_explicit(*content)
                    else:
                        raise self._first_error(connection, content)
        except BaseException:
            self.kill()
            raise

    def _check(self) -> None:
        if self._ended:
            raise ClusterError(self._ended)

    def _first_error(self, connection: Connection, error: BaseException) -> BaseException:
        """The error of the first board that found one, if others fail for the same reason."""
        rank, end = self._connections.index(connection), time.monotonic() + _PATIENCE
        while rank and (left := end - time.monotonic()) > 0:
            for other in wait(self._connections[:rank], left):
                assert isinstance(other, Connection)
                with contextlib.suppress(EOFError, ConnectionError):
                    kind, content = other.recv()
                    if kind == _ERROR:
                        rank, error = self._connections.index(other), content
                        break
            else:
                continue
        if rank and isinstance(error, HypercastError):
            error.args = (f"board {rank}: {error}", *error.args[1:])
        return error

    def _failure(self) -> ClusterError:
        """Why all have ended, or are to: one of them is gone."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        if self._process.poll() is None:
            return ClusterError(f"the process of a board is gone, and so all were ended; "
                                f"{self._hint()}")
        self._reader.join()
        return ClusterError(reason(self._notices, self._process.returncode, self._hint()))

    def finish(self, value: object) -> None:
        """Give the leader a last value, after which all end by themselves; else end them."""
        if not self._ended:
            with contextlib.suppress(ClusterError, subprocess.TimeoutExpired):
                self.say(value)
                self._process.wait(_GRACE)
        self.kill()

    def kill(self) -> None:
        """End all, and remove what they have left."""
        atexit.unregister(self.kill)
        self._ended = self._ended or (f"the processes of the boards have ended; make the training "
                                      f"anew, {self._hint()}")
        for connection in self._connections:
            connection.close()  # which they notice
        process = getattr(self, "_process", None)
        if process:
            process.terminate()
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self._reader.join()
            process.stderr.close()
        self._stack.close()


class _Line:
    """The other end, in a process that was started."""

    def __init__(self, path: str) -> None:
        end = socket.socket(socket.AF_UNIX)
        end.connect(path)
        self._connection = Connection(end.detach())
        one = started()
        self._connection.send(one.rank if one else 0)
        self._received: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Take what comes; end when the other end is closed, which the kernel does in any case."""
        try:
            while True:
                self._received.put(self._connection.recv())
        except (EOFError, OSError):
            os._exit(1)

    def receive(self) -> Any:
        return self._received.get()

    def answer(self, value: object) -> None:
        self.tell(_VALUE, value)

    def progress(self, text: str) -> None:
        self.tell(_PROGRESS, text)

    def tell(self, kind: str, content: object) -> None:
        with self._lock:
            self._connection.send((kind, content))

    def warn(self, message: Warning | str, category: type[Warning], filename: str, lineno: int,
             file: object = None, line: str | None = None) -> None:
        self.tell(_WARNING, (message, category, filename, lineno))


def main() -> None:
    """What each process runs."""
    line = _Line(sys.argv[1])
    try:
        seconds, function, arguments = line.receive()
        group: Group | None = world(seconds)
        if group is None:
            raise ClusterError("MPI finds the processes of the boards alone; install mpi4py and "
                               "an mpirun that belong together: pip install "
                               "'hypercast-gcn[cluster]'")
        warnings.showwarning = line.warn if group.rank == 0 else lambda *_, **__: None
        function(group, line if group.rank == 0 else None, *arguments)
    except BaseException as error:
        with contextlib.suppress(OSError):
            line.tell(_ERROR, told(error))
        time.sleep(_GRACE)  # until all are ended, so that mpirun says nothing of this one
        os._exit(1)
