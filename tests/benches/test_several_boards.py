# SPDX-License-Identifier: BSD-2-Clause
"""Bench boards: what it compares, and how it watches processes."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np

from hypercast.benches import several_boards
from hypercast.benches.board_processes import PREPARING, peaks, ranks_below
from hypercast.benches.board_trainings import SCHEMES, state_digest
from tests.host.models import small_model


def test_a_digest_is_of_everything():
    state = small_model().state
    name, arrays = next(iter(state.parameters.items()))
    master = np.array(arrays["master"])
    master.flat[0] += 1
    others = [replace(state, step=1), replace(state, exponents={}),
              replace(state, momentum_exponents={}),
              replace(state, parameters={**state.parameters, name: {**arrays, "master": master}})]
    assert len({state_digest(each) for each in (state, *others)}) == 5
    assert state_digest(state) == state_digest(replace(state, step=0))


def test_trainings_that_differ_are_counted(monkeypatch):
    """On four boards, one training of the graph in parallel differs, and one on four chips."""
    def digests(count, devices="reference"):
        found = {scheme: ["a", "b", "c"] for scheme in SCHEMES}
        if count == 4:
            differing = "graph" if devices == "reference" else "samples"
            found[f"{differing} in parallel"] = ["a", "x", "c"]
        return found

    monkeypatch.setattr(several_boards, "digests", digests)
    figures = {figure.name.partition(" that end")[0]: figure
               for figure in several_boards._equal(lambda text: None)}
    several = "trainings on 2, 4, 8 boards"
    assert {name: (figure.value, figure.passed) for name, figure in figures.items()} == {
        f"samples in parallel: {several}": (9, True), f"graph in parallel: {several}": (8, False),
        f"layers in a pipeline: {several}": (9, True), **{
            f"{scheme}: trainings on {chips}": (3, True) for scheme in SCHEMES
            for chips in ("2 simulated chips", "4 simulated chips",
                          "a reference and a simulated chip")},
        "samples in parallel: trainings on 4 simulated chips": (2, False)}


def test_peak_memory_of_a_rank():
    code = "import time; kept = bytearray(60 << 20); time.sleep(1.5)"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        found = peaks(process)
    assert 60e6 < found[0] < 200e6


def test_peak_memory_of_what_a_rank_started():
    """It is not that of the rank."""
    filling = "import time; kept = bytearray(90 << 20); time.sleep(1.5)"
    rank = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{filling}'], env={{}})"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {rank!r}])"
    with subprocess.Popen([sys.executable, "-c", code],
                          env={**os.environ, "OMPI_COMM_WORLD_RANK": "0"}) as process:
        found = peaks(process)
    assert found[0] < 90e6 < found[PREPARING] < 200e6


def test_ranks_are_told_by_their_environment():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    environment = {**os.environ, "OMPI_COMM_WORLD_RANK": "3"}
    with subprocess.Popen([sys.executable, "-c", code], env=environment,
                          stdin=subprocess.PIPE) as process:
        while not (found := list(ranks_below(process.pid))):
            assert process.poll() is None
        process.communicate(b"\n")
    assert [rank for rank, _ in found] == [3]
