# SPDX-License-Identifier: BSD-2-Clause
"""Processes that are to end with the one that started them."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from hypercast.host.processes import parent_end
from hypercast.host.processes.apart import import_path
from hypercast.host.processes.parent_end import ends_with_this

STARTING = """import subprocess, sys
from hypercast.host.processes.parent_end import ends_with_this
code = "import signal, time, os; signal.signal(signal.SIGTERM, lambda *_: os._exit(0)); " \\
       "print(os.getpid(), flush=True); time.sleep(60)"
subprocess.run([sys.executable, "-c", code], preexec_fn=ends_with_this())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such thing")
def test_it_gets_a_signal_when_its_parent_is_killed():
    with subprocess.Popen([sys.executable, "-c", STARTING], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": import_path(ends_with_this)}) as process:
        child = int(process.stdout.readline())
        process.kill()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("it goes on")


def test_where_there_is_no_such_thing(monkeypatch):
    monkeypatch.setattr(parent_end.ctypes, "CDLL", lambda name: object())
    ran = subprocess.run([sys.executable, "-c", "print(1)"], preexec_fn=ends_with_this(),
                         capture_output=True, text=True)
    assert ran.stdout == "1\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such thing")
@pytest.mark.parametrize("ended", [False, True])
def test_a_parent_that_ended_before_it_was_asked(ended, monkeypatch):
    """Then no signal comes any more, so the new process ends by itself."""
    asked, left = [], []
    monkeypatch.setattr(parent_end.ctypes, "CDLL", lambda name: SimpleNamespace(
        prctl=lambda *arguments: asked.append(arguments)))
    monkeypatch.setattr(parent_end.os, "_exit", left.append)
    ask = ends_with_this()
    parent = os.getpid()
    monkeypatch.setattr(parent_end.os, "getppid", lambda: 1 if ended else parent)
    ask()
    assert asked == [(1, signal.SIGTERM)]
    assert left == ([128 + signal.SIGTERM] if ended else [])
