# SPDX-License-Identifier: BSD-2-Clause
"""How several processes are started, and what is said when they end."""

import io
import signal
import sys
from pathlib import Path

import pytest

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes import mpirun as module
from hypercast.host.processes.mpirun import launch

RULE = "-" * 74 + "\n"
KILLED = (f"{RULE}prterun noticed that process rank 2 with PID 7 on node far exited on\n"
          f"signal 9 (Killed).\n{RULE}")
SIGKILL = "signal 9 (Killed, as the system does where memory is used up)"


@pytest.fixture
def mpirun(tmp_path, monkeypatch):
    """Makes an mpirun that prints a text and ends with a status or a command of a shell, whatever
    it shall start.
    """
    def make(text, end):
        path = tmp_path / "mpirun"
        (tmp_path / "text").write_text(text)
        path.write_text('#!/bin/sh\n[ "$1" = --version ] && exit\n'
                        f"printf '%s ' \"$@\" > {tmp_path}/line\n"
                        f"cat {tmp_path}/text >&2\n"
                        f"{end if isinstance(end, str) else f'exit {end}'}\n")
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        return tmp_path / "line"
    return make


def test_as_many_processes_as_boards(mpirun):
    line = mpirun("a warning\n", 0)
    assert launch(3, ["train", "karate", "--boards", "3"]) == 0
    assert line.read_text().startswith("-n 3 ")
    assert line.read_text().endswith("train karate --boards 3 ")
    assert sys.stderr.getvalue() == "a warning\n"


@pytest.mark.parametrize(("text", "printed", "status"), [
    (f"error: it is wrong\n{KILLED}", "error: it is wrong\n", 2),
    (KILLED, f"error: the process of board 2 was ended by {SIGKILL}, and so all were; HINT\n", 1),
    (KILLED.replace("9 (Killed)", "15 (Terminated)"),
     "error: the process of board 2 was ended by signal 15 (Terminated), and so all were; HINT\n",
     1),
    ("[far:7] PMIX ERROR: PMIX_ERR_UNREACH in file ptl_base_connection_hdlr.c at line 121\n",
     "error: a process ended while all of them were starting, and so all did; HINT\n", 1),
    (f"[far:7] PRTE ERROR: Broken pipe in file state.c\n[far:00007] [[1,0],2] it is gone\n{KILLED}",
     f"error: the process of board 2 was ended by {SIGKILL}, and so all were; HINT\n", 1),
    ("[far:7] PRTE ERROR: Not found\n",
     "error: mpirun failed with status 2: [far:7] PRTE ERROR: Not found; try mpirun -n 2 "
     "hostname\n", 1),
    (f"{RULE}no slots\n{RULE}", "error: mpirun failed with status 2: no slots; try mpirun -n "
     "2 hostname\n", 1),
])
def test_an_error_is_one_line(mpirun, text, printed, status):
    mpirun(text, 2)
    assert launch(3, [], lambda: "HINT") == status
    assert sys.stderr.getvalue() == printed


@pytest.mark.parametrize(("status", "printed"), [
    ("exit 137", f"error: the process of a board was ended by {SIGKILL}, and so all were; HINT\n"),
    ("kill -SEGV $$", "error: mpirun was ended by signal 11 (Segmentation fault), and so were all "
                      "boards; HINT\n"),
    ("kill -KILL $$", f"error: mpirun was ended by {SIGKILL}, and so were all boards; HINT\n"),
    ("exit 1", "error: mpirun was ended, and so were all boards, by a signal such as SIGTERM, "
               "SIGINT or SIGHUP; HINT\n"),
    ("exit 3", "error: mpirun failed with status 3: it said nothing; try mpirun -n 2 hostname\n")])
def test_what_mpirun_says_nothing_of(mpirun, status, printed):
    mpirun("", status)
    assert launch(3, [], lambda: "HINT") == 1
    assert sys.stderr.getvalue() == printed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all(mpirun, tmp_path, monkeypatch, number):
    """It is passed on; the exit status is what shells give."""
    mpirun("Abort is in progress...hit ctrl-c again to forcibly terminate\n", 1)
    (tmp_path / "mpirun").write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exit\nkill -{number:d} $PPID\nsleep 0.2\n'
        f"cat {tmp_path}/text >&2\nexit 1\n")
    before = signal.signal(number, signal.default_int_handler)  # what runs tests may ignore it
    try:
        assert launch(2, [], lambda: "HINT") == 128 + number
        assert signal.getsignal(number) == signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert sys.stderr.getvalue() == (f"error: ended by signal {number:d} ({number.name}), and so "
                                     f"were all boards; HINT\n")


def test_what_mpi_leaves_is_removed(mpirun, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SHARED_MEMORY", tmp_path)
    mpirun("", "env > $(dirname $0)/variables\n"
               "touch $OMPI_MCA_btl_sm_backing_directory/segment\nkill -KILL $$")
    launch(2, [])
    found = dict(line.partition("=")[::2]
                 for line in (tmp_path / "variables").read_text().splitlines())
    folder = Path(found["OMPI_MCA_btl_sm_backing_directory"])
    assert folder.parent == tmp_path and not folder.exists()
    assert not Path(found["PRTE_MCA_prte_tmpdir_base"]).exists()


@pytest.mark.parametrize("missing", ["mpi4py", "mpirun"])
def test_without_mpi(monkeypatch, tmp_path, missing):
    if missing == "mpi4py":
        monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=f"2 boards need MPI, but there is no {missing}; "
                                           f"install both: pip install 'hypercast-gcn.cluster.'"):
        launch(2, [])
