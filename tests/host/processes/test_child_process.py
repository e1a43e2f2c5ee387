# SPDX-License-Identifier: BSD-2-Clause
"""Processes that are started: what they yield, say and raise comes out here; how they end."""

import os
import signal
import subprocess
import sys
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.errors import HypercastError
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.model import Model
from hypercast.host.graphs.datasets import DatasetError
from hypercast.host.graphs.graph import Graph
from hypercast.host.processes import child_process as module
from hypercast.host.processes.child_process import (
    UnforeseenError,
    die_with_parent,
    import_path,
    in_child_process,
)

IGNORED = {"progress": lambda text: None}

STARTING = """import subprocess, sys
from hypercast.host.processes.child_process import die_with_parent
code = "import signal, time, os; signal.signal(signal.SIGTERM, lambda *_: os._exit(0)); " \\
       "print(os.getpid(), flush=True); time.sleep(60)"
subprocess.run([sys.executable, "-c", code], preexec_fn=die_with_parent())
"""


def arrays(seed, count, *, progress):
    generator = np.random.default_rng(seed)
    for number in range(count):
        progress(f"array {number}")
        yield generator.integers(-9, 9, size=generator.integers(100_000))


def refused(*, progress):
    yield 1
    Model("none")


def no_file(*, progress):
    yield Graph.load("/none/graph.npz")


def unforeseen(*, progress):
    yield {}["none"]


def disconnected(*, progress):
    yield 1
    raise ConnectionResetError("of its own")


def used_up(*, progress):
    yield np.zeros(1 << 50)


def warned(*, progress):
    warnings.warn("it is coarse", UserWarning, stacklevel=1)
    print("what is printed is in nobody's way")
    yield 1


def ended(number, *, progress):
    yield os.getpid()
    os.kill(os.getpid(), number)


def endless(*, progress):
    yield os.getpid()
    while True:
        time.sleep(1)


def variables(*, progress):
    yield dict(os.environ)


def check_gone(identity):
    """Wait until a process is not there."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(identity, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.kill(identity, signal.SIGKILL)
    raise AssertionError("it goes on")


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1 << 32), st.integers(0, 5))
def test_what_a_generator_yields_in_order(seed, count):
    said = []
    found = list(in_child_process("counts", arrays, seed, count, progress=said.append))
    expected = list(arrays(seed, count, **IGNORED))
    assert len(found) == count and all(map(np.array_equal, found, expected))
    assert said == [f"array {number}" for number in range(count)]


def test_a_refusal_is_raised_as_it_was():
    values = in_child_process("prepares", refused, **IGNORED)
    assert next(values) == 1
    with pytest.raises(DescriptionError, match="model") as caught:
        next(values)
    assert caught.value.section == "model"
    assert next(values, None) is None


def test_other_errors():
    with pytest.raises((DatasetError, OSError), match=r"graph\.npz"):
        next(in_child_process("prepares", no_file, **IGNORED))
    with pytest.raises(UnforeseenError,
                       match=r"KeyError: 'none' \(.*test_child_process\.py, line") as caught:
        next(in_child_process("prepares", unforeseen, **IGNORED))
    assert not isinstance(caught.value, HypercastError)
    assert "in unforeseen" in caught.value.__notes__[0]
    with pytest.raises(ConnectionResetError, match="of its own"):
        list(in_child_process("prepares", disconnected, **IGNORED))
    with pytest.raises(MemoryError):
        next(in_child_process("prepares", used_up, **IGNORED))


def test_a_warning_comes_out_once():
    with pytest.warns(UserWarning, match="it is coarse") as caught:
        assert list(in_child_process("prepares", warned, **IGNORED)) == [1]
    assert len(caught) == 1


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_process_that_is_killed(number):
    values = in_child_process("prepares the graph", ended, number, **IGNORED)
    next(values)
    message = f"that prepares the graph was ended by signal {int(number)}; if memory was used up"
    with pytest.raises(ClusterError, match=message):
        next(values)


def test_a_process_that_ends_before_it_has_read_what_it_is_given(monkeypatch):
    monkeypatch.setattr(module, "CODE", "raise SystemExit(3)")
    with pytest.raises(ClusterError, match="the process that reads ended with status 3"):
        next(in_child_process("reads", arrays, bytes(1 << 22), **IGNORED))


def test_it_ends_with_the_iterator():
    values = in_child_process("waits", endless, **IGNORED)
    process = next(values)
    os.kill(process, 0)
    values.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_it_ends_with_a_process_that_is_killed():
    code = ("from tests.host.processes.test_child_process import IGNORED, endless; import time\n"
            "from hypercast.host.processes.child_process import in_child_process\n"
            "values = in_child_process('waits', endless, **IGNORED)\n"
            "print(next(values), flush=True); time.sleep(60)")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": import_path(endless)}) as process:
        other = int(process.stdout.readline())
        process.kill()
    check_gone(other)


def test_it_is_no_rank(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("PMIX_RANK", "0")
    monkeypatch.setenv("KEPT", "yes")
    found = next(in_child_process("tells", variables, **IGNORED))
    assert found["KEPT"] == "yes"
    assert not {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"} & found.keys()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such thing")
def test_it_gets_a_signal_when_its_parent_is_killed():
    with subprocess.Popen([sys.executable, "-c", STARTING], stdout=subprocess.PIPE, text=True,
                          env={**os.environ,
                               "PYTHONPATH": import_path(die_with_parent)}) as process:
        child = int(process.stdout.readline())
        process.kill()
    check_gone(child)


def test_where_there_is_no_such_thing(monkeypatch):
    monkeypatch.setattr(module.ctypes, "CDLL", lambda name: object())
    ran = subprocess.run([sys.executable, "-c", "print(1)"], preexec_fn=die_with_parent(),
                         capture_output=True, text=True)
    assert ran.stdout == "1\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such thing")
@pytest.mark.parametrize("ended", [False, True])
def test_a_parent_that_ended_before_it_was_asked(ended, monkeypatch):
    """Then no signal comes any more, so the new process ends by itself."""
    asked, left = [], []
    monkeypatch.setattr(module.ctypes, "CDLL", lambda name: SimpleNamespace(
        prctl=lambda *arguments: asked.append(arguments)))
    monkeypatch.setattr(module.os, "_exit", left.append)
    ask = die_with_parent()
    parent = os.getpid()
    monkeypatch.setattr(module.os, "getppid", lambda: 1 if ended else parent)
    ask()
    assert asked == [(1, signal.SIGTERM)]
    assert left == ([128 + signal.SIGTERM] if ended else [])
