"""Starts a command once for each board, by mpirun, and says in one line why it ended."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from hypercast.host.cluster.group import ClusterError
from hypercast.host.cluster.parent_end import ends_with_this
from hypercast.host.cluster.starter import own_environment

__all__ = ["environment", "launch", "mpirun"]

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
_RESUME = "a run that is kept goes on from its last checkpoint with --resume"


def launch(boards: int, arguments: Sequence[str]) -> int:
    """Run ``hypercast`` with these arguments as so many processes; its exit status.

    What rank 0 prints is printed here. So is the error that ended all, as one line. If this process
    is killed, mpirun ends all others (on Linux).

    Raises
    ------
    ClusterError
        If there is no mpirun, or no mpi4py.
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise ClusterError(f"--boards {boards} needs MPI, but there is no mpi4py; {_INSTALL}")
    command = [*mpirun(boards), "-n", str(boards), sys.executable, "-c", _MAIN, *arguments]
    received: list[int] = []
    running: list[subprocess.Popen[str]] = []

    def pass_on(number: int, _: object) -> None:
        received.append(number)
        for process in running:
            process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace",
                              env=environment(boards),
                              preexec_fn=ends_with_this()) as process:
            running.append(process)
            if received:
                process.send_signal(received[0])
            assert process.stderr
            said, notices = _passed_on(process.stderr, sys.stderr)
            status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        return 128 + received[0]
    if status and not said:
        print(f"error: {_reason(notices, status)}", file=sys.stderr)
        return 1
    return status


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
        raise ClusterError(f"--boards {boards} needs MPI, but there is no mpirun; {_INSTALL}")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
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


def _passed_on(lines: Iterable[str], output: TextIO) -> tuple[bool, list[str]]:
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


def _reason(notices: Sequence[str], status: int) -> str:
    """Why all processes ended, from mpirun's notices and its exit status.

    Sometimes mpirun says nothing of a process that was killed; its status has the signal.
    """
    text = " ".join(line for line in notices if line)
    if killed := _KILLED.search(text):
        rank, number, name = killed.groups()
        if int(number) == signal.SIGALRM:
            return (f"board {rank} waited in vain for other boards to start, for --timeout seconds "
                    f"or a minute; see what their processes do")
        return (f"the process of board {rank} was ended by signal {number} ({name}), and so all "
                f"were; {_RESUME}")
    if _UNREACHABLE in text:
        return f"a process ended while all of them were starting, and so all did; {_RESUME}"
    if not text and status > _SIGNALLED:
        return (f"the process of a board was ended by signal {status - _SIGNALLED}, and so all "
                f"were; {_RESUME}")
    return (f"mpirun failed with status {status}: {text or 'it said nothing'}; try mpirun -n 2 "
            f"hostname")
