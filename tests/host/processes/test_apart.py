# SPDX-License-Identifier: BSD-2-Clause
"""Generators that run in a process of their own: what they yield, say and raise comes out here."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import warnings

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
from hypercast.host.processes import apart as module
from hypercast.host.processes.apart import UnforeseenError, apart

IGNORED = {"progress": lambda text: None}


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


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1 << 32), st.integers(0, 5))
def test_what_a_generator_yields_in_order(seed, count):
    said = []
    found = list(apart("counts", arrays, seed, count, progress=said.append))
    expected = list(arrays(seed, count, **IGNORED))
    assert len(found) == count and all(map(np.array_equal, found, expected))
    assert said == [f"array {number}" for number in range(count)]


def test_a_refusal_is_raised_as_it_was():
    values = apart("prepares", refused, **IGNORED)
    assert next(values) == 1
    with pytest.raises(DescriptionError, match="model") as caught:
        next(values)
    assert caught.value.section == "model"
    assert next(values, None) is None


def test_other_errors():
    with pytest.raises((DatasetError, OSError), match=r"graph\.npz"):
        next(apart("prepares", no_file, **IGNORED))
    with pytest.raises(UnforeseenError,
                       match=r"KeyError: 'none' \(.*test_apart\.py, line") as caught:
        next(apart("prepares", unforeseen, **IGNORED))
    assert not isinstance(caught.value, HypercastError)
    assert "in unforeseen" in caught.value.__notes__[0]
    with pytest.raises(MemoryError):
        next(apart("prepares", used_up, **IGNORED))


def test_a_warning_comes_out_once():
    with pytest.warns(UserWarning, match="it is coarse") as caught:
        assert list(apart("prepares", warned, **IGNORED)) == [1]
    assert len(caught) == 1


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_process_that_is_killed(number):
    values = apart("prepares the graph", ended, number, **IGNORED)
    next(values)
    message = f"that prepares the graph was ended by signal {int(number)}; if memory was used up"
    with pytest.raises(ClusterError, match=message):
        next(values)


def test_a_process_that_ends_before_it_has_read_what_it_is_given(monkeypatch):
    monkeypatch.setattr(module, "_MAIN", "raise SystemExit(3)")
    with pytest.raises(ClusterError, match="the process that reads ended with status 3"):
        next(apart("reads", arrays, bytes(1 << 22), **IGNORED))


def test_it_ends_with_the_iterator():
    values = apart("waits", endless, **IGNORED)
    process = next(values)
    os.kill(process, 0)
    values.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_it_ends_with_a_process_that_is_killed():
    code = ("from tests.host.processes.test_apart import IGNORED, endless; import time\n"
            "from hypercast.host.processes.apart import apart\n"
            "values = apart('waits', endless, **IGNORED); print(next(values), flush=True)\n"
            "time.sleep(60)")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": module.import_path(endless)}) as process:
        other = int(process.stdout.readline())
        process.kill()
    deadline = time.monotonic() + 20
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.kill(other, 0)
            time.sleep(0.05)
        raise AssertionError("it goes on")


def test_it_is_no_rank(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("PMIX_RANK", "0")
    monkeypatch.setenv("KEPT", "yes")
    found = next(apart("tells", variables, **IGNORED))
    assert found["KEPT"] == "yes"
    assert not {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"} & found.keys()
