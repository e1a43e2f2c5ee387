# SPDX-License-Identifier: BSD-2-Clause
"""Starts a command once for each board, by mpirun, and says in one line why it ended."""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes.child_process import GRACE, die_with_parent
from hypercast.host.processes.launcher_variables import own_environment
from hypercast.host.processes.own_folder import SEGMENTS, SHARED_MEMORY, OwnFolder
from hypercast.safe_path import PYTHON

__all__ = ["COMMAND_LINE", "ENDING_SIGNALS", "Mpirun", "launch"]

#: What a process runs which has the command line's arguments.
COMMAND_LINE = "from hypercast.host.cli import main; main()"
#: mpirun's own notices stand between two of these.
_RULE = re.compile(r"-{60,}\s*")
_ABORTING = "Abort is in progress"
#: What its parts say begins with a machine and a process.
_INTERNAL = re.compile(r"\[[^\]\s]+:\d+[^\]]*\] ")
#: They say this of a process that is gone before it has made itself known to them.
_UNREACHABLE = "PMIX ERROR: PMIX_ERR_UNREACH"
_KILLED = re.compile(r"process rank (\d+) .* signal (\d+) \((.*?)\)")
#: Exit statuses above this are of signals.
_SIGNALLED = 128
#: What ends a program in the usual ways.
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Parameters of Open MPI 5 and 4: where folders of sessions are made.
_SESSIONS = ("PRTE_MCA_prte_tmpdir_base", "OMPI_MCA_orte_tmpdir_base")


def launch(boards: int, arguments: Sequence[str],
           hint: Callable[[], str] = lambda: "train again") -> int:
    """Run ``hypercast`` with these arguments as so many processes; its exit status.

    What rank 0 prints is printed here. So is the error that ended all, as one line. If this process
    is killed, mpirun ends all others (on Linux).

    Parameters
    ----------
    boards : int
        How many.
    arguments : sequence of str
        What follows ``hypercast`` on its command line.
    hint : callable
        Gives what to do where a signal has ended all.

    Raises
    ------
    ClusterError
        If there is no mpirun, or no mpi4py.
    """
    received: list[signal.Signals] = []
    running: list[Mpirun] = []

    def pass_on(number: int, _: object) -> None:
        received.append(signal.Signals(number))
        for one in running:
            one.process.send_signal(number)

    with contextlib.ExitStack() as stack:
        for number in ENDING_SIGNALS:
            if (before := signal.getsignal(number)) != signal.SIG_IGN:
                signal.signal(number, pass_on)
                stack.callback(signal.signal, number, before)
        ranks = stack.enter_context(Mpirun(boards, COMMAND_LINE, *arguments,
                                           preexec_fn=die_with_parent()))
        running.append(ranks)
        if received:
            ranks.process.send_signal(received[0])
        status = ranks.wait()
    if received:
        print(f"error: ended by signal {received[0]:d} ({received[0].name}), and so were all "
              f"boards; {hint()}", file=sys.stderr)
        return _SIGNALLED + received[0]
    if status and not ranks.said:
        print(f"error: {ranks.reason(hint())}", file=sys.stderr)
        return 1
    return status


class Mpirun:
    """An mpirun, and the processes that it has run some code of this Python.

    Their standard error is printed here, but for mpirun's notices.

    Parameters
    ----------
    boards : int
        How many processes.
    code : str
        What each runs.
    *arguments
        What it has in ``sys.argv``.
    variables : dict, optional
        Variables of their environment, in addition to the common ones.
    **options
        Arguments of ``subprocess.Popen``.

    Attributes
    ----------
    process : subprocess.Popen
        The mpirun.
    said : bool
        Once it has ended, whether an error was printed.

    Raises
    ------
    ClusterError
        If there is no mpirun, or no mpi4py.
    """

    def __init__(self, boards: int, code: str, *arguments: str,
                 variables: Mapping[str, str] | None = None, **options: Any) -> None:
        command = _command(boards, code, *arguments)
        self.said, self._notices = False, list[str]()
        with contextlib.ExitStack() as stack:
            self.process: subprocess.Popen[str] = subprocess.Popen(
                command, stderr=subprocess.PIPE, text=True, errors="replace",
                env={**_environment(boards), **_places(stack), **(variables or {})}, **options)
            self._places = stack.pop_all()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr
        within = False
        with self.process.stderr as lines:
            for line in lines:
                if _RULE.fullmatch(line):
                    within = not within
                elif within or line.startswith(_ABORTING) or _INTERNAL.match(line):
                    self._notices.append(line.strip())
                else:
                    self.said = self.said or line.lower().startswith("error")
                    print(line, end="", file=sys.stderr, flush=True)

    def wait(self, seconds: float | None = None) -> int:
        """Exit status; raises ``subprocess.TimeoutExpired`` if mpirun has not ended by then."""
        status = self.process.wait(seconds)
        self._reader.join()
        return status

    def reason(self, hint: str) -> str:
        """Why all processes ended, once it has, from its notices and its exit status.

        Sometimes mpirun says nothing of a process that was killed; its status has the signal. Of a
        signal that it got itself it says nothing, and ends with status 1.
        """
        status = self.wait()
        text = " ".join(line for line in self._notices if line)
        if killed := _KILLED.search(text):
            rank, number, name = killed.groups()
            if int(number) == signal.SIGALRM:
                return (f"board {rank} waited in vain for other boards to start, for --timeout "
                        f"seconds or a minute; see what their processes do")
            return (f"the process of board {rank} was ended by {_signal(int(number), name)}, and "
                    f"so all were; {hint}")
        if _UNREACHABLE in text:
            return f"a process ended while all of them were starting, and so all did; {hint}"
        if status < 0:
            return f"mpirun was ended by {_signal(-status)}, and so were all boards; {hint}"
        if not text and status > _SIGNALLED:
            return (f"the process of a board was ended by {_signal(status - _SIGNALLED)}, and so "
                    f"all were; {hint}")
        if not text and status == 1:
            return (f"mpirun was ended, and so were all boards, by a signal such as SIGTERM, "
                    f"SIGINT or SIGHUP; {hint}")
        return (f"mpirun failed with status {status}: {text or 'it said nothing'}; try mpirun "
                f"-n 2 hostname")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End all, and remove what they have left."""
        self.process.terminate()
        try:
            self.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.wait()
        self._places.close()


def _command(boards: int, code: str, *arguments: str) -> list[str]:
    """The mpirun of this environment, or else of the machine, with the options it needs."""
    beside = Path(sys.executable).with_name("mpirun")
    found = str(beside) if beside.exists() else shutil.which("mpirun")
    for name, there in (("mpi4py", importlib.util.find_spec("mpi4py")), ("mpirun", found)):
        if not there:
            raise ClusterError(f"{boards} boards need MPI, but there is no {name}; install both: "
                               f"pip install 'hypercast-gcn[cluster]'")
    assert found
    version = subprocess.run([found, "--version"], capture_output=True, text=True,
                             env=own_environment()).stdout
    options = ["--oversubscribe", "--bind-to", "none"]
    if "Open MPI" not in version and "OpenRTE" not in version:
        options = []
    elif os.getuid() == 0:
        options.insert(0, "--allow-run-as-root")
    return [found, *options, "-n", str(boards), *PYTHON, "-c", code, *arguments]


def _places(stack: contextlib.ExitStack) -> dict[str, str]:
    """Where Open MPI keeps files: in folders that are removed at the end, or else by the next run.

    What it leaves elsewhere, if it is killed, is the machine's memory until somebody removes it.
    """
    found: dict[str, str] = {}
    for base, names in ((SHARED_MEMORY, SEGMENTS), (Path(tempfile.gettempdir()), _SESSIONS)):
        with contextlib.suppress(OSError):
            folder = stack.enter_context(OwnFolder(base))
            found |= dict.fromkeys(names, str(folder.path))
    return found


def _environment(boards: int) -> dict[str, str]:
    """Processors are shared; what rank 0 prints looks as if it had the terminal, if any.

    Of a batch system or launcher that surrounds this process, mpirun is told nothing. So it starts
    all processes on this machine, where they are to be.
    """
    found = own_environment()
    found.setdefault("OMP_NUM_THREADS", str(max(len(os.sched_getaffinity(0)) // boards, 1)))
    found["TTY_COMPATIBLE"] = str(int(all(
        stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr))))
    found.setdefault("COLUMNS", str(shutil.get_terminal_size().columns))
    return found


def _signal(number: int, name: str = "") -> str:
    """A signal, and what it may mean."""
    name = name or (signal.strsignal(number) if number in signal.valid_signals() else "") or "none"
    cause = ", as the system does where memory is used up" if number == signal.SIGKILL else ""
    return f"signal {number} ({name}{cause})"
