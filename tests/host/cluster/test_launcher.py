"""How several processes are started, and what is said when they end."""

import io
import signal
import sys

import pytest

from hypercast.host.cluster import launcher
from hypercast.host.cluster.group import ClusterError
from hypercast.host.cluster.launcher import launch

RULE = "-" * 74 + "\n"
KILLED = (f"{RULE}prterun noticed that process rank 2 with PID 7 on node far exited on\n"
          f"signal 9 (Killed).\n{RULE}")


@pytest.fixture
def mpirun(tmp_path, monkeypatch):
    """Makes an mpirun that prints a text and ends with a status, whatever it shall start."""
    def make(text, status):
        path = tmp_path / "mpirun"
        (tmp_path / "text").write_text(text)
        path.write_text('#!/bin/sh\n[ "$1" = --version ] && exit\n'
                        f"printf '%s ' \"$@\" > {tmp_path}/line\n"
                        f"cat {tmp_path}/text >&2\nexit {status}\n")
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
    (KILLED, "error: the process of board 2 was ended by signal 9 (Killed), and so all were; a run "
             "that is kept goes on from its last checkpoint with --resume\n", 1),
    ("[far:7] PMIX ERROR: PMIX_ERR_UNREACH in file ptl_base_connection_hdlr.c at line 121\n",
     "error: a process ended while all of them were starting, and so all did; a run that is kept "
     "goes on from its last checkpoint with --resume\n", 1),
    (f"[far:7] PRTE ERROR: Broken pipe in file state.c\n[far:00007] [[1,0],2] it is gone\n{KILLED}",
     "error: the process of board 2 was ended by signal 9 (Killed), and so all were; a run that is "
     "kept goes on from its last checkpoint with --resume\n", 1),
    ("[far:7] PRTE ERROR: Not found\n",
     "error: mpirun failed with status 2: [far:7] PRTE ERROR: Not found; try mpirun -n 2 "
     "hostname\n", 1),
    (f"{RULE}no slots\n{RULE}", "error: mpirun failed with status 2: no slots; try mpirun -n "
     "2 hostname\n", 1),
])
def test_an_error_is_one_line(mpirun, text, printed, status):
    mpirun(text, 2)
    assert launch(3, []) == status
    assert sys.stderr.getvalue() == printed


@pytest.mark.parametrize(("status", "printed"), [
    (137, "error: the process of a board was ended by signal 9, and so all were; a run that is "
          "kept goes on from its last checkpoint with --resume\n"),
    (3, "error: mpirun failed with status 3: it said nothing; try mpirun -n 2 hostname\n")])
def test_what_mpirun_says_nothing_of(mpirun, status, printed):
    mpirun("", status)
    assert launch(3, []) == 1
    assert sys.stderr.getvalue() == printed


def test_a_signal_ends_all_without_a_message(mpirun, tmp_path):
    """It is passed on; the exit status is what shells give."""
    mpirun("Abort is in progress...hit ctrl-c again to forcibly terminate\n", 1)
    (tmp_path / "mpirun").write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exit\nkill -TERM $PPID\nsleep 0.2\n'
        f"cat {tmp_path}/text >&2\nexit 1\n")
    assert launch(2, []) == 128 + signal.SIGTERM
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize("missing", ["mpi4py", "mpirun"])
def test_without_mpi(monkeypatch, tmp_path, missing):
    if missing == "mpi4py":
        monkeypatch.setattr(launcher.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=f"--boards 2 needs MPI, but there is no {missing}; "
                                           f"install both: pip install 'hypercast-gcn.cluster.'"):
        launch(2, [])
