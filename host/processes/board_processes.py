# SPDX-License-Identifier: BSD-2-Clause
"""Processes of this machine that train for this one, a board each: started, told, and ended."""

import atexit
import contextlib
import os
import queue
import select
import socket
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypercast.errors import HypercastError
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes.child_process import (
    CODE,
    GRACE,
    Connection,
    Kind,
    Parent,
    import_path,
    show,
)
from hypercast.host.processes.launcher_variables import find_start
from hypercast.host.processes.mpi_group import world
from hypercast.host.processes.mpirun import Mpirun
from hypercast.host.processes.own_folder import SHARED_MEMORY, OwnFolder

__all__ = ["BoardProcesses"]

#: Bytes that the path of a socket may have, everywhere.
_LONGEST = 100
#: Seconds from one look at whether processes are alive to the next.
_PAUSE = 0.2
#: Seconds in which other processes may fail, too, when one has failed: if several find the same,
#: the first one is named.
_PATIENCE = 0.5


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
        if (one := find_start()) and one.several:
            raise ClusterError(f"{one.variable} says that this process was started with others, "
                               f"but boards are given, which it starts itself; start it alone, or "
                               f"start hypercast train by mpirun")
        self._progress, self._hint = progress, hint
        self._connections: list[Connection] = []
        self._received: queue.SimpleQueue[tuple[int, Kind, Any]] = queue.SimpleQueue()
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
        self._ranks = self._stack.enter_context(Mpirun(
            count, CODE, path, variables={"PYTHONPATH": import_path(function)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True))
        found: dict[int, Connection] = {}
        while len(found) < count:
            if not select.select([server], [], [], _PAUSE)[0]:
                if self._ranks.process.poll() is not None:
                    raise self._failure()
                continue
            connection = Connection(server.accept()[0])
            self._connections.append(connection)
            with contextlib.suppress(EOFError):
                found[connection.take()[1]] = connection
        self._connections = [found[rank] for rank in range(count)]
        for rank, connection in found.items():
            threading.Thread(target=self._listen, args=(rank, connection), daemon=True).start()
            self._send(connection, (_join, (seconds, function, arguments)))

    def _send(self, connection: Connection, value: object) -> None:
        try:
            connection.send(Kind.VALUE, value)
        except EOFError:
            raise self._failure() from None

    def _listen(self, rank: int, connection: Connection) -> None:
        """Take what comes of a rank, until its end."""
        with contextlib.suppress(EOFError):
            while True:
                kind, content = connection.take()
                if kind == Kind.END and rank:
                    return  # it is done before the leader is
                self._received.put((rank, kind, content))
                del content
        self._received.put((rank, Kind.END, None))

    def _folder(self) -> Path:
        """A folder of this user alone, whose path is short enough."""
        for base in (Path(tempfile.gettempdir()), Path("/tmp"), SHARED_MEMORY):
            if len(os.fsencode(base)) < _LONGEST - 40 and os.access(base, os.W_OK | os.X_OK):
                return self._stack.enter_context(OwnFolder(base)).path
        raise ClusterError(f"{tempfile.gettempdir()}, for temporary files, cannot be written to, "
                           f"or has too long a path; set TMPDIR to another folder")

    def say(self, value: object) -> None:
        """Give the leader a value, and do not wait for it."""
        self._check()
        try:
            self._send(self._connections[0], value)
        except BaseException:
            self.kill()
            raise

    def hear(self) -> Any:
        """The leader's next answer; waits for it."""
        self._check()
        try:
            while True:
                rank, kind, content = self._received.get()
                if kind == Kind.VALUE:
                    return content
                if kind == Kind.ERROR:
                    raise self._first_error(rank, content)
                if kind == Kind.END:
                    raise self._failure()
                show(kind, content, self._progress)
        except BaseException:
            self.kill()
            raise

    def _check(self) -> None:
        if self._ended:
            raise ClusterError(self._ended)

    def _first_error(self, rank: int, error: BaseException) -> BaseException:
        """The error of the first board that found one, if others fail for the same reason."""
        end = time.monotonic() + _PATIENCE
        with contextlib.suppress(queue.Empty):
            while rank:
                other, kind, content = self._received.get(timeout=max(end - time.monotonic(), 0))
                if kind == Kind.ERROR and other < rank:
                    rank, error = other, content
        if rank and isinstance(error, HypercastError):
            error.args = (f"board {rank}: {error}", *error.args[1:])
        return error

    def _failure(self) -> ClusterError:
        """Why all have ended, or are to: one of them is gone."""
        try:
            self._ranks.wait(GRACE)
        except subprocess.TimeoutExpired:
            return ClusterError(f"the process of a board is gone, and so all were ended; "
                                f"{self._hint()}")
        return ClusterError(self._ranks.reason(self._hint()))

    def finish(self, value: object) -> None:
        """Give the leader a last value, after which all end by themselves; else end them."""
        if not self._ended:
            with contextlib.suppress(ClusterError, subprocess.TimeoutExpired):
                self.say(value)
                self._ranks.wait(GRACE)
        self.kill()

    def kill(self) -> None:
        """End all, and remove what they have left."""
        atexit.unregister(self.kill)
        self._ended = self._ended or (f"the processes of the boards have ended; make the training "
                                      f"anew, {self._hint()}")
        for connection in self._connections:
            connection.close()  # which they notice
        self._stack.close()


def _join(parent: Parent, seconds: float, function: Callable[..., None],
          arguments: tuple[Any, ...]) -> None:
    """The work of each process."""
    group = world(seconds)
    if group is None:
        raise ClusterError("MPI finds the processes of the boards alone; install mpi4py and "
                           "an mpirun that belong together: pip install "
                           "'hypercast-gcn[cluster]'")
    warnings.showwarning = parent.warn if group.rank == 0 else lambda *_, **__: None
    function(group, parent if group.rank == 0 else None, *arguments)
