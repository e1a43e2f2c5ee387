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
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes.own_folder import SEGMENTS, SHARED_MEMORY, OwnFolder
from hypercast.host.processes.parent_end import ends_with_this
from hypercast.host.processes.starter import own_environment
from hypercast.safe_path import PYTHON

__all__ = ["environment", "launch", "mpirun", "passed_on", "places", "reason", "several"]

#: What the command line is, for a process that mpirun starts.
_MAIN = "from hypercast.host.cli import main; main()"
#: mpirun's own notices stand between two of these.
_RULE = re.compile(r"-{60,}\s*")
_ABORTING = "Abort is in progress"
#: What its parts say begins with a machine and a process.
_INTERNAL = re.compile(r"\[[^\]\s]+:\d+[^\]]*\] ")
#: They say this of a process that is gone before it has made itself known to them.
_UNREACHABLE = "PMIX ERROR: PMIX_ERR_UNREACH"
_KILLED = re.compile(r"process rank (\d+) .* signal (\d+) \((.*?)\)")
_INSTALL = "install both: pip install 'hypercast-gcn[cluster]'"
#: Exit statuses above this are of signals.
_SIGNALLED = 128
#: What ends a program in the usual ways.
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
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
    command = several(boards, _MAIN, *arguments)
    received: list[signal.Signals] = []
    running: list[subprocess.Popen[str]] = []

    def pass_on(number: int, _: object) -> None:
        received.append(signal.Signals(number))
        for process in running:
            process.send_signal(number)

    with contextlib.ExitStack() as stack:
        variables = {**environment(boards), **places(stack)}
        for number in _PASSED_ON:
            if (before := signal.getsignal(number)) != signal.SIG_IGN:
                signal.signal(number, pass_on)
                stack.callback(signal.signal, number, before)
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace",
                              env=variables, preexec_fn=ends_with_this()) as process:
            running.append(process)
            if received:
                process.send_signal(received[0])
            assert process.stderr
            said, notices = passed_on(process.stderr, sys.stderr)
            status = process.wait()
    if received:
        print(f"error: ended by signal {received[0]:d} ({received[0].name}), and so were all "
              f"boards; {hint()}", file=sys.stderr)
        return _SIGNALLED + received[0]
    if status and not said:
        print(f"error: {reason(notices, status, hint())}", file=sys.stderr)
        return 1
    return status


def several(boards: int, code: str, *arguments: str) -> list[str]:
    """The command that has so many processes of this Python run some code.

    Raises
    ------
    ClusterError
        If there is no mpirun, or no mpi4py.
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise ClusterError(f"{boards} boards need MPI, but there is no mpi4py; {_INSTALL}")
    return [*mpirun(boards), "-n", str(boards), *PYTHON, "-c", code, *arguments]


def places(stack: contextlib.ExitStack) -> dict[str, str]:
    """Where Open MPI keeps files: in folders that are removed at the end, or else by the next run.

    What it leaves elsewhere, if it is killed, is the machine's memory until somebody removes it.
    """
    found: dict[str, str] = {}
    for base, names in ((SHARED_MEMORY, SEGMENTS), (Path(tempfile.gettempdir()), _SESSIONS)):
        with contextlib.suppress(OSError):
            folder = stack.enter_context(OwnFolder(base))
            found |= dict.fromkeys(names, str(folder.path))
    return found


def mpirun(boards: int) -> list[str]:
    """The mpirun of this environment, or else of the machine, with the options it needs.

    Raises
    ------
    ClusterError
        If there is none.
    """
    beside = Path(sys.executable).with_name("mpirun")
    found = str(beside) if beside.exists() else shutil.which("mpirun")
    if found is None:
        raise ClusterError(f"{boards} boards need MPI, but there is no mpirun; {_INSTALL}")
    version = subprocess.run([found, "--version"], capture_output=True, text=True,
                             env=own_environment()).stdout
    if "Open MPI" not in version and "OpenRTE" not in version:
        return [found]
    as_root = ["--allow-run-as-root"] if os.getuid() == 0 else []
    return [found, *as_root, "--oversubscribe", "--bind-to", "none"]


def environment(boards: int) -> dict[str, str]:
    """Processors are shared; what rank 0 prints looks as if it had the terminal, if any.

    Of a batch system or launcher that surrounds this process, mpirun is told nothing. So it starts
    all processes on this machine, where they are to be.
    """
    found = own_environment()
    found.setdefault("OMP_NUM_THREADS", str(max(len(os.sched_getaffinity(0)) // boards, 1)))
    found["TTY_COMPATIBLE"] = str(int(sys.stdout.isatty() and sys.stderr.isatty()))
    found.setdefault("COLUMNS", str(shutil.get_terminal_size().columns))
    return found


def passed_on(lines: Iterable[str], output: TextIO) -> tuple[bool, list[str]]:
    """Print lines, but for mpirun's notices; whether an error was among them, and the notices."""
    said, within, notices = False, False, []
    for line in lines:
        if _RULE.fullmatch(line):
            within = not within
        elif within or line.startswith(_ABORTING) or _INTERNAL.match(line):
            notices.append(line.strip())
        else:
            said = said or line.lower().startswith("error")
            output.write(line)
            output.flush()
    return said, notices


def reason(notices: Sequence[str], status: int, hint: str) -> str:
    """Why all processes ended, from mpirun's notices and its exit status.

    Sometimes mpirun says nothing of a process that was killed; its status has the signal. Of a
    signal that it got itself it says nothing, and ends with status 1.
    """
    text = " ".join(line for line in notices if line)
    if killed := _KILLED.search(text):
        rank, number, name = killed.groups()
        if int(number) == signal.SIGALRM:
            return (f"board {rank} waited in vain for other boards to start, for --timeout seconds "
                    f"or a minute; see what their processes do")
        return (f"the process of board {rank} was ended by {_named(int(number), name)}, and so "
                f"all were; {hint}")
    if _UNREACHABLE in text:
        return f"a process ended while all of them were starting, and so all did; {hint}"
    if status < 0:
        return f"mpirun was ended by {_named(-status)}, and so were all boards; {hint}"
    if not text and status > _SIGNALLED:
        return (f"the process of a board was ended by {_named(status - _SIGNALLED)}, and so all "
                f"were; {hint}")
    if not text and status == 1:
        return (f"mpirun was ended, and so were all boards, by a signal such as SIGTERM, SIGINT or "
                f"SIGHUP; {hint}")
    return (f"mpirun failed with status {status}: {text or 'it said nothing'}; try mpirun -n 2 "
            f"hostname")


def _named(number: int, name: str = "") -> str:
    """A signal, and what it may mean."""
    name = name or (signal.strsignal(number) if number in signal.valid_signals() else "") or "none"
    cause = ", as the system does where memory is used up" if number == signal.SIGKILL else ""
    return f"signal {number} ({name}{cause})"
