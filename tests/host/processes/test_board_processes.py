# SPDX-License-Identifier: BSD-2-Clause
"""Processes that are started for boards: what they are told and answer, and how they end."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from hypercast.benches.board_processes import children
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.processes import mpirun
from hypercast.host.processes.board_processes import BoardProcesses
from hypercast.host.processes.child_process import UnforeseenError, import_path
from hypercast.host.processes.own_folder import SHARED_MEMORY

pytest.importorskip("mpi4py")

HINT = "HINT"


def add(group, parent, number):
    """Answers what is said and the sum of all ranks' process ids; says that it does so."""
    identity = group.gather(os.getpid())
    if parent is None:
        while group.tell() is not None:
            group.sum(np.array([group.rank]))
        return
    parent.answer(identity)
    parent.progress("adding")
    warnings.warn("a warning", UserWarning, stacklevel=1)
    while True:
        value = parent.receive()
        group.tell(value)
        if value is None:
            return
        if value == "wrong":
            raise KeyError(value)
        parent.answer((value, number, int(group.sum(np.array([0]))[0])))


def late(group, parent):
    if parent:
        time.sleep(1)
        parent.answer(group.size)


def refuse(group, parent, ranks):
    if group.rank in ranks:
        raise DescriptionError(f"[model] rank {group.rank} refuses", "model", "hidden")
    group.receive((group.rank + 1) % group.size)  # what nobody sends


def started(function, *arguments, said=None, count=3):
    return BoardProcesses(count, 60.0, function, *arguments, progress=(said or []).append,
                          hint=lambda: HINT)


def gone(identities):
    """Wait until none of some processes is there."""
    deadline = time.monotonic() + 20
    for identity in identities:
        while True:
            try:
                os.kill(identity, 0)
            except ProcessLookupError:
                break
            assert time.monotonic() < deadline, "one goes on"
            time.sleep(0.05)


def own_folders():
    """The folders of shared memory that this process has locked; other tests may have others."""
    opened = {os.path.realpath(path) for path in Path("/proc/self/fd").iterdir()}
    return [path for path in SHARED_MEMORY.glob("hypercast-boards-*") if str(path) in opened]


def test_they_answer_and_end():
    said = ["begin"]
    found = started(add, 7, said=said)
    left = own_folders()
    identities = found.hear()
    assert len({*identities, os.getpid()}) == 4
    with pytest.warns(UserWarning, match="a warning"):
        for value in ("a", b"b" * (1 << 20)):
            found.say(value)
            assert found.hear() == (value, 7, 3)
    assert said == ["begin", "adding"]
    found.finish(None)
    gone(identities)
    assert left and not any(path.exists() for path in left)
    with pytest.raises(ClusterError, match="the processes of the boards have ended; make the train"
                                           "ing anew, HINT"):
        found.say("a")


def test_what_ends_them():
    """A signal to one of them; an error that should have been refused; Ctrl-C here."""
    found = started(add, 7)
    with warnings.catch_warnings(action="ignore"):
        identities = found.hear()
        os.kill(identities[1], signal.SIGKILL)
        with pytest.raises(ClusterError, match=r"the process of board 1 was ended by signal 9 .*; "
                                               "HINT"):
            found.hear()
        gone(identities)
        found = started(add, 7, count=2)
        identities = found.hear()
        found.say("wrong")
        with pytest.raises(UnforeseenError, match=r"KeyError: 'wrong' \(.*test_board_processes"):
            found.hear()
        gone(identities)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_whichever_is_killed_whenever(seed):
    """mpirun or a rank, while they start or answer: none of them goes on, and nobody waits."""
    generator, seen = random.Random(seed), []

    def kill():
        time.sleep(generator.uniform(0.2, 2.5))
        [mpirun] = children(os.getpid())
        seen.extend([int(mpirun), *map(int, children(mpirun))])
        with contextlib.suppress(ProcessLookupError):
            os.kill(generator.choice(seen), signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    with warnings.catch_warnings(action="ignore"), pytest.raises(ClusterError):
        found = started(add, 7)
        found.hear()
        while True:
            found.say("a")
            found.hear()
    killing.join()
    gone(seen)


def test_a_leader_that_is_done_last():
    found = started(late, count=2)
    assert found.hear() == 2
    found.finish(None)


def test_an_interruption_ends_them():
    found = started(add, 7, count=2)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    with warnings.catch_warnings(action="ignore"):
        identities = found.hear()
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            found.hear()
    signal.signal(signal.SIGALRM, before)
    gone(identities)
    found.finish(None)


def test_a_refusal_is_raised_as_it_was():
    """That of the first board, if several find the same."""
    with pytest.raises(DescriptionError, match=r"^board 1: \[model\] rank 1 refuses") as caught:
        started(refuse, (1, 2)).hear()
    assert caught.value.key == "hidden"


def test_they_end_with_a_process_that_is_killed():
    code = ("from tests.host.processes.test_board_processes import add, started; import time\n"
            "found = started(add, 7, count=2); print(*found.hear(), flush=True); time.sleep(60)")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": import_path(add)}) as process:
        identities = [int(word) for word in process.stdout.readline().split()]
        process.kill()
    gone(identities)


def test_one_that_was_started_with_others_starts_none(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with pytest.raises(ClusterError, match="OMPI_COMM_WORLD_RANK says that this process was start"
                                           "ed with others, but boards are given"):
        started(add, 7)


@pytest.mark.parametrize("lacking", [os.W_OK, os.X_OK])
def test_the_folder_of_their_socket_can_be_written_to_and_entered(lacking, monkeypatch):
    """If the folder for temporary files cannot, or has too long a path, it is another one."""
    def folder_if(base, refused):
        monkeypatch.setattr(tempfile, "tempdir", str(base))
        monkeypatch.setattr(os, "access", lambda path, mode: not (
            Path(path) in refused and mode & lacking))
        with contextlib.ExitStack() as stack:
            return BoardProcesses._folder(SimpleNamespace(_stack=stack)).parent

    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        base, shared = Path(name), Path("/tmp")
        assert folder_if(base, []) == base
        assert folder_if(base, [base]) == folder_if(base / ("x" * 80), []) == shared
        assert folder_if(base, [base, shared]) == SHARED_MEMORY
        with pytest.raises(ClusterError, match=f"{base}, for temporary files, cannot be written"):
            folder_if(base, [base, shared, SHARED_MEMORY])


def test_mpirun_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(mpirun, "_command", lambda count, *rest: [
        sys.executable, "-c", "import sys; print('no slots', file=sys.stderr); sys.exit(2)"])
    with pytest.raises(ClusterError, match="mpirun failed with status 2"):
        started(add, 7)
