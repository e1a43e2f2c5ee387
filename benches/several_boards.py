# SPDX-License-Identifier: BSD-2-Clause
"""Several boards that train together: bits of one, kills, virtual time, division, memory."""

import os
import random
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hypercast.benches.accuracy import FACEBOOK
from hypercast.benches.board_division import divided_order
from hypercast.benches.board_placement import placement
from hypercast.benches.board_processes import PREPARING, peaks, strike, train
from hypercast.benches.board_scaling import scaling
from hypercast.benches.board_trainings import SCHEMES, digests, state_digest
from hypercast.benches.figure import Figure
from hypercast.errors import ToolError
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.run_folder import RunFolder

__all__ = ["run"]

#: Numbers of boards whose weights are compared with one board's.
_BOARDS = (2, 4, 8)
#: Boards among which are simulated chips: their name, how many, and their devices.
_CHIPS = {"2 simulated chips": (2, "rtl"), "4 simulated chips": (4, "rtl"),
          "a reference and a simulated chip": (2, "reference,rtl")}
#: Kills, and epochs of the training that they interrupt.
_KILLS, _KILLED_EPOCHS = 20, 2000
#: A graph that is divided among boards, in addition to given ones.
_GENERATED: dict[str, Any] = {"vertices": 4096, "classes": 16, "degree": 16.0}
#: Vertices and edges of the graph whose memory is measured, and the share that a board may need.
_LARGE_VERTICES, _LARGE_EDGES, _SHARE = 500_000, 10_000_000, 0.25


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is the folder with Cora's Planetoid files, if they are there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = [*_equal(progress), *_kill(folder, progress)]
        figures += scaling(progress)
        figures += placement(progress)
        graphs = {f"blocks of {_GENERATED['vertices']} vertices": Graph(**blocks(**_GENERATED))}
        if data:
            graphs["Cora"] = Graph.load(str(data))
        if FACEBOOK in os.environ:
            graphs["Facebook"] = Graph.load(os.environ[FACEBOOK])
        for graph in graphs:
            progress(f"{graph} among boards")
            figures += divided_order(graph, graphs[graph])
        if data:
            figures += _cora(folder, data, progress)
        return [*figures, *_memory(folder, progress)]


def _train(folder: Path, *arguments: object) -> str:
    """The digest of a training's results, in a new folder."""
    with train(*arguments, "--run", folder) as process:
        _, errors = process.communicate()
    if process.returncode:
        raise ToolError(f"hypercast train {' '.join(map(str, arguments))} failed: {errors}")
    return state_digest(RunFolder(folder).load_checkpoint().state)


def _equal(progress: Callable[[str], None]) -> Iterator[Figure]:
    progress("trainings on one board")
    expected = digests(1)
    equal = dict.fromkeys(SCHEMES, 0)
    for boards in _BOARDS:
        progress(f"trainings on {boards} boards")
        found = digests(boards)
        for scheme in SCHEMES:
            equal[scheme] += sum(map(str.__eq__, found[scheme], expected[scheme]))
    for scheme, count in equal.items():
        bar = len(_BOARDS) * len(expected[scheme])
        yield Figure(name=f"{scheme}: trainings on {', '.join(map(str, _BOARDS))} boards that end "
                          f"in the weights and state of one, of {bar}",
                     value=count, bar=bar, relation="=")
    for title, (boards, devices) in _CHIPS.items():
        progress(f"trainings on {title}")
        together = digests(boards, devices)
        for scheme, ends in together.items():
            yield Figure(name=f"{scheme}: trainings on {title} that end in the weights and state "
                              f"of one reference, of {len(ends)}",
                         value=sum(map(str.__eq__, ends, expected[scheme])), bar=len(ends),
                         relation="=")


def _kill(folder: Path, progress: Callable[[str], None]) -> Iterator[Figure]:
    arguments = ("blocks", "--hidden", 6, "--epochs", _KILLED_EPOCHS, "--every", 10)
    expected = _train(folder / "whole", *arguments)
    generator = random.Random(0)
    kills = named = 0
    while kills < _KILLS:
        boards = generator.choice((2, 3))
        rank = generator.randrange(boards)
        progress(f"kill {kills + 1} of {_KILLS}")
        with train(*arguments, "--boards", boards, "--run", folder / "killed",
                   "--resume") as process:
            strike(process, rank, signal.SIGKILL, generator.uniform(0.1, 6))
            _, errors = process.communicate()
        if process.returncode == 0:
            break
        kills += 1
        named += errors.startswith((f"error: the process of board {rank} was ended by signal 9",
                                    "error: the process of a board was ended by signal 9",
                                    "error: a process ended while all of them were starting")) \
            and len(errors.splitlines()) == 1
    found = _train(folder / "killed", *arguments, "--boards", 2, "--resume")
    yield Figure(name="kills of a board at a random moment, each resumed on another number of "
                      "boards", value=kills, bar=_KILLS, relation="=")
    yield Figure(name="of them, ended by one message that says what happened", value=named,
                 bar=kills, relation="=")
    yield Figure(name="and the training ends in the weights and state of one that was not killed",
                 value=int(found == expected), bar=1, relation="=")


def _cora(folder: Path, data: Path, progress: Callable[[str], None]) -> Iterator[Figure]:
    progress("Cora on 4 boards")
    arguments = (data, "--epochs", 3)
    expected = _train(folder / "cora", *arguments)
    yield Figure(name="Cora, whole, on 4 boards ends in the weights and state of one",
                 value=int(expected == _train(folder / "cora 4", *arguments, "--boards", 4)),
                 bar=1, relation="=")


def _memory(folder: Path, progress: Callable[[str], None]) -> Iterator[Figure]:
    progress("making a large graph")
    generator = np.random.default_rng(0)
    size = _LARGE_VERTICES // 64
    sources = generator.integers(_LARGE_VERTICES, size=_LARGE_EDGES // 2)
    near = sources // size * size + generator.integers(size, size=len(sources))
    far = generator.integers(_LARGE_VERTICES, size=len(sources))
    targets = np.where(generator.random(len(sources)) < 0.9, near, far) % _LARGE_VERTICES
    vertices = np.arange(_LARGE_VERTICES)
    path = folder / "large.npz"
    np.savez(path, edges=np.stack([sources, targets], axis=1), labels=vertices // size % 8,
             features=generator.random((_LARGE_VERTICES, 16)) < 0.2,
             train=vertices[::4], validation=vertices[1::8], test=vertices[5::8])
    arguments = (path, "--hidden", 16, "--epochs", 1, "--elements", 8, "--order", "combine_first",
                 "--no-check", "--json")
    found = []
    for boards in (1, 8):
        progress(f"a large graph on {boards} boards")
        with train(*arguments, "--boards", boards) as process:
            found.append(peaks(process))
        if process.returncode:
            raise ToolError(f"a training of a large graph on {boards} boards failed")
    alone, together = found
    prepared = together.pop(PREPARING, 0)
    yield Figure(name="10 M edges: peak memory of the process of one board", unit="GB",
                 value=alone[0] / 1e9)
    yield Figure(name="10 M edges: peak of the fullest of 8 boards' processes, by that",
                 value=max(together.values()) / alone[0], bar=_SHARE, relation="<=")
    yield Figure(name="10 M edges: peak of the leader's, by that", value=together[0] / alone[0],
                 bar=_SHARE, relation="<=")
    yield Figure(name="10 M edges: peak of the process that prepares the graph for 8 boards, and "
                      "ends before they train, by that", value=prepared / alone[0])
