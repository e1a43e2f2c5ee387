# SPDX-License-Identifier: BSD-2-Clause
"""The serial link: a training through a pseudo-terminal, throughput, and faults of the line."""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hypercast.benches.figure import Figure
from hypercast.benches.trainings import BenchTraining
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.serial.serial_transport import SerialTransport
from hypercast.host.training.prepare import open_device
from hypercast.host.transport.transport import TransportError
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import Space
from hypercast.sim.line_faults import FaultyLine
from hypercast.sim.serial_board import BYTE_CYCLES, SimulatedSerialBoard
from hypercast.sim.serial_terminal import SerialTerminal

__all__ = ["run"]

#: Through the pseudo-terminal, by preset; the board's is folded.
_KARATE = {"demo": BenchTraining(dataset="karate", config=PRESETS["demo"], epochs=10),
           "ulx3s": BenchTraining(dataset="karate", config=PRESETS["ulx3s"], epochs=3)}
#: So slow that no time-out expires, however busy the machine is that simulates the board.
_BAUD = 300
#: Words of the throughput measurements.
_WORDS = 4000
_SMALL = BenchTraining(dataset="karate", config=PRESETS["tiny"], epochs=3, hidden=(2,))
_FAULTS = 1000
#: Faults per byte: more than every second of the longest frames is hit.
_RATE = 1 / 1000
#: Cycles after which a training hangs; one without faults takes a hundredth.
_PATIENCE = 100_000_000
#: So that a command is given up less than once in a million times.
_ATTEMPTS = 40


class _HangError(Exception):
    """A training did not end."""


class _WatchedLine(FaultyLine):
    """A faulty line to a board that has only so many cycles left."""

    def __init__(self, board: SimulatedSerialBoard, rng: random.Random) -> None:
        super().__init__(board, rng, _RATE)
        self._board, self._limit = board, board.cycles + _PATIENCE

    def receive(self) -> bytes:
        if self._board.cycles > self._limit:
            raise _HangError
        return super().receive()


def _digest(weights: Mapping[Any, IntArray]) -> str:
    """Digest of all weights, masters and momenta, given as name to integers."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(weights[name], dtype="<i8").tobytes())
    return digest.hexdigest()


def _reference(training: BenchTraining) -> str:
    """Digest of the weights that the reference ends with."""
    device = ReferenceDevice(training.model())
    for _ in range(training.epochs):
        device.train_step()
    kept = {name for parameter, arrays in device.oracle.kept.items()
            for name in (parameter, *(f"{parameter}.{kind}" for kind in arrays))}
    return _digest({name: value for name, value in device.snapshot().items() if name in kept})


def _train(device: AloneChip, training: BenchTraining) -> str:
    """Digest of the weights that a chip ends with; the first core's."""
    for _ in range(training.epochs):
        device.train_step()
    weights: dict[str, IntArray] = {}
    for name in device.job.weights:
        weights[name] = device.driver.operand(device.job, name)
        weights[f"{name}.master"], weights[f"{name}.momentum"] = device.driver.optimiser(
            device.job, name)
    return _digest(weights)


def _terminal(preset: str, progress: Callable[[str], None]) -> Figure:
    training = _KARATE[preset]
    board = SimulatedSerialBoard(training.config, folded=preset == "ulx3s", progress=progress)
    with SerialTerminal(board) as terminal:
        progress(f"karate through {terminal.name}, preset {preset}")
        device = open_device(f"serial:{terminal.name}@{_BAUD}", training.model(), training.config)
        assert isinstance(device, AloneChip)
        try:
            digest = _train(device, training)
        finally:
            device.close()
    return Figure(name=f"karate, preset {preset}, {training.epochs} epochs through a "
                       f"pseudo-terminal: final weight hashes equal to the reference's",
                  value=int(digest == _reference(training)), bar=1, relation="=")


def _throughput(progress: Callable[[str], None]) -> list[Figure]:
    progress("throughput")
    board = SimulatedSerialBoard(_SMALL.config, progress=progress)
    transport = SerialTransport(board, number=1)
    driver = Driver(transport, _SMALL.config)
    values = np.random.default_rng(1).integers(1 << 32, size=(_WORDS // 2, 1), dtype=np.uint32)
    seconds = []
    for core in range(2):
        start = board.cycles
        driver.write_words(core, Space.FEATURES, 0, values)
        transport.flush()
        seconds.append(board.cycles - start)
    for core in range(2):
        start = board.cycles
        if not np.array_equal(driver.read_words(core, Space.FEATURES, 0, len(values)), values):
            raise TransportError("what was read is not what was written")
        seconds.append(board.cycles - start)
    board.close()
    line = values.nbytes * BYTE_CYCLES
    return [Figure(name=f"{what}: data bytes, as a share of those the line can carry",
                   value=2 * line / sum(cycles), bar=0.9)
            for what, cycles in (("writing", seconds[:2]), ("reading", seconds[2:]))]


def _one(board: SimulatedSerialBoard, rng: random.Random,
         expected: str) -> tuple[str, Counter[str]]:
    """A training over a bad line: how it ended, and the faults."""
    line = _WatchedLine(board, rng)
    try:
        transport = SerialTransport(line, attempts=_ATTEMPTS, number=rng.randint(1, 0xFFFF))
        transport.reset()
        model = _SMALL.model()
        device = AloneChip(transport, compile_job(model, _SMALL.config), model)
        right = _train(device, _SMALL) == expected
    except TransportError:
        return "given up", line.injected
    except _HangError:
        return "hanging", line.injected
    return "right" if right else "wrong", line.injected


def _faults(progress: Callable[[str], None]) -> list[Figure]:
    board = SimulatedSerialBoard(_SMALL.config, progress=progress)
    expected = _reference(_SMALL)
    rng = random.Random(1)
    outcomes = {"right": 0, "wrong": 0, "hanging": 0, "given up": 0}
    injected = 0
    while injected < _FAULTS:
        progress(f"{injected} of {_FAULTS} faults")
        outcome, faults = _one(board, rng, expected)
        outcomes[outcome] += 1
        injected += faults.total()
    board.close()
    return [
        Figure(name="faults of the line: bytes changed, lost, repeated, invented, delayed",
               value=injected, bar=_FAULTS),
        Figure(name="trainings with them, same final weight hash", value=outcomes["right"]),
        Figure(name="wrong results", value=outcomes["wrong"], bar=0, relation="="),
        Figure(name="hangs", value=outcomes["hanging"], bar=0, relation="="),
        Figure(name="given up with an error", value=outcomes["given up"], bar=0, relation="="),
    ]


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    return [*_throughput(progress), *_faults(progress),
            *(_terminal(preset, progress) for preset in _KARATE)]
