# SPDX-License-Identifier: BSD-2-Clause
"""Speed of the compiled simulation: against others, threads, compiling, and Cora."""

import contextlib
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hypercast.benches.figure import Figure
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.driver import Driver
from hypercast.host.training.prepare import open_device, prepare
from hypercast.host.transport.transport import Transport
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.isa import Engine, Opcode, encode
from hypercast.rtl.registers import COUNTERS, CoreSpace, Space, register
from hypercast.sim.chip_build import build_chip
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from hypercast.sim.processors import processors
from hypercast.sim.pysim_transport import PysimTransport
from hypercast.sim.verilated_transport import VerilatedTransport

__all__ = ["run"]

_CONFIG = PRESETS["demo"]
#: The chip with the most to compute.
_LARGE = PRESETS["cora"]
#: Rows each core processes.
_ROWS = 8
#: Cycles in which anything moves that a run has at most.
_LIMIT = 10_000
#: Runs of the compiled simulation that are timed; one takes it milliseconds.
_COMPILED_RUNS = 200
#: Threads with which Verilator's simulation is timed, and its runs.
_VERILATED, _VERILATED_RUNS = (1, 2), 20
#: The core whose counters are compared, and how many of them: the counters of work done.
_CORE, _COUNTERS = 5, list(COUNTERS).index("loss_train")
#: How often one thread and two are timed, in turn, and runs each time.
_ROUNDS, _THREAD_RUNS = 15, 40
#: Training steps of Cora that are timed, and steps of the training whose time follows from them.
_STEPS, _EPOCHS = 5, 200
#: Seconds that training took before cores were evaluated together.
_EPOCHS_BAR = 1352
#: Speed demanded against Amaranth's simulator, and of two threads against one; seconds of
#: compiling.
_RATIO_BAR, _THREADS_BAR, _COMPILE_BAR = 4000, 1.6, 60


def _program(config: Config) -> list[int]:
    """Instructions that keep all engines and all links at work, on data that changes.

    A new row of weights for every core; with dropout, as a bias, it makes rows that differ; these
    are multiplied, and reduced over all cores.
    """
    rows = {"row_limit": _ROWS, "open": 1}
    dropout = {"dropout": 1, "dropout_threshold": 1 << 15, "dropout_key": 0x5EED}
    made, empty, result = 1024, 2048, 3072  # addresses
    return [
        encode(Opcode.UPDATE, rows=1, o=1, open=1),
        encode(Opcode.AGGREGATE, send_list=empty, edge_set=empty, buffer=1),
        encode(Opcode.DRAIN, waits=1 << Engine.WEIGHTS, channel=1, address=made, o=2, bias=1,
               **rows, **dropout),
        encode(Opcode.MATMUL, waits=1 << Engine.VECTOR, row_limit=_ROWS, channel=1, address=made,
               panels=5, buffer=1),
        encode(Opcode.GRADIENT, row_limit=_ROWS, panels=config.cores, ones=1,
               digits=config.digits, gradient_address=made),
        encode(Opcode.DRAIN, buffer=1, address=result, o=3, **rows),
        encode(Opcode.HALT),
    ]


class _Stopwatch(Transport):
    """Another transport, and the time that the cycles it let pass took."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.cycles, self.seconds = 0, 0.0

    def read(self, address: int) -> int:
        return self._transport.read(address)

    def write(self, address: int, value: int) -> None:
        self._transport.write(address, value)

    def wait(self, cycles: int) -> None:
        start = time.perf_counter()
        self._transport.wait(cycles)
        self.seconds += time.perf_counter() - start
        self.cycles += cycles


def _select(transport: Transport, core: int, space: int, address: int) -> None:
    for name, value in (("core", core), ("space", space), ("address", address)):
        transport.write(register(name), value)


def _write(transport: Transport, core: int, space: int, address: int,
           values: Iterable[int]) -> None:
    """Write through the window; the memories were zero, so zeros at the end are left out."""
    _select(transport, core, space, address)
    for value in values:
        transport.write(register("data"), value)


def _prepare(transport: _Stopwatch, config: Config) -> Driver:
    """A driver of a chip that holds the program, and one row of optimiser state.

    That row is for core 0 to send to all: masters 5, 6, 7 and so on, momenta zero.
    """
    driver = Driver(transport, config)
    for core in range(config.cores):
        _write(transport, core, Space.CORE, CoreSpace.ROWS, [_ROWS])
    masters = [weight << 26 for weight in range(5, 5 + config.lanes)]
    _write(transport, 0, Space.GRADIENTS, 0, masters)
    for row, instruction in enumerate(_program(config)):
        driver.patch(row, instruction)
    return driver


def _run(transport: Transport, runs: int) -> tuple[int, list[int], float]:
    """Run the program; returns its cycles, counters of a core, and simulated cycles per second."""
    stopwatch = _Stopwatch(transport)
    driver = _prepare(stopwatch, _CONFIG)
    cycles = driver.run(0, limit=_LIMIT)
    _select(stopwatch, _CORE, Space.CORE, CoreSpace.COUNTERS)
    counters = [stopwatch.read(register("data")) for _ in range(_COUNTERS)]
    for _ in range(runs - 1):
        driver.run(0, limit=_LIMIT)
    return cycles, counters, stopwatch.cycles / stopwatch.seconds


def _against_pysim(progress: Callable[[str], None]) -> list[Figure]:
    progress("building the compiled simulation")
    transport = CxxrtlTransport(_CONFIG, progress=progress)
    progress("running the compiled simulation")
    expected, expected_counters, compiled = _run(transport, _COMPILED_RUNS)
    transport.close()
    progress("elaborating the chip for Amaranth's simulator")
    start = time.perf_counter()
    reference = PysimTransport(_CONFIG)
    elaboration = time.perf_counter() - start
    progress("running Amaranth's simulator")
    cycles, counters, interpreted = _run(reference, 1)
    return [
        Figure(name="compiled simulation", value=compiled, unit="cycles/s"),
        Figure(name="Amaranth's simulator", value=interpreted, unit="cycles/s"),
        Figure(name="ratio", value=compiled / interpreted, bar=_RATIO_BAR),
        Figure(name="Amaranth's simulator: until the first cycle", value=elaboration, unit="s"),
        Figure(name="the program's cycles, Amaranth's simulator and the compiled one", value=cycles,
               bar=expected, relation="="),
        Figure(name=f"counters of core {_CORE} that are equal",
               value=sum(map(int.__eq__, counters, expected_counters)),
               bar=len(expected_counters), relation="="),
        Figure(name="words that core multiplied",
               value=counters[list(COUNTERS).index("array_words")]),
    ]


def _against_verilator(progress: Callable[[str], None]) -> Iterator[Figure]:
    """The same chip, as exported, compiled by Verilator; all of them one after another."""
    def timed(transport: Transport, runs: int) -> tuple[int, float]:
        with contextlib.closing(transport):
            cycles, _, speed = _run(transport, runs)
        return cycles, speed

    found = [timed(CxxrtlTransport(_CONFIG, progress=progress), _COMPILED_RUNS)]
    for threads in _VERILATED:
        progress(f"Verilator, {threads} threads")
        found.append(timed(VerilatedTransport(_CONFIG, threads=threads, progress=progress),
                           _VERILATED_RUNS))
        yield Figure(name=f"Verilator, compiled with -O1, {threads} thread{'s' * (threads > 1)}",
                     value=found[-1][1], unit="cycles/s")
    yield Figure(name="compiled simulation against the faster of Verilator's",
                 value=found[0][1] / max(speed for _, speed in found[1:]), bar=1.0)
    yield Figure(name="simulations in which the program takes as many cycles",
                 value=sum(cycles == found[0][0] for cycles, _ in found), bar=len(found),
                 relation="=")


def _measure_compiling(progress: Callable[[str], None]) -> list[Figure]:
    """The large chip, compiled where nothing is kept of it."""
    def seconds() -> float:
        return sum(usage.ru_utime + usage.ru_stime for usage in map(
            resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))

    with tempfile.TemporaryDirectory() as folder:
        start, before = time.perf_counter(), seconds()
        build_chip(_LARGE, cache=Path(folder), progress=progress)
        return [
            Figure(name="preset cora compiled", value=time.perf_counter() - start, unit="s",
                   bar=_COMPILE_BAR, relation="<="),
            Figure(name="preset cora compiled: processor time", value=seconds() - before,
                   unit="s")]


def _threads(progress: Callable[[str], None]) -> list[Figure]:
    """One thread and two on the large chip, in turn, so that both meet the same machine."""
    speeds: dict[int, list[float]] = {1: [], 2: []}
    with contextlib.ExitStack() as stack:
        timed = {}
        for threads in speeds:
            chip = CxxrtlTransport(_LARGE, threads=threads, progress=progress)
            stack.enter_context(contextlib.closing(chip))
            timed[threads] = _Stopwatch(chip)
        drivers = {threads: _prepare(transport, _LARGE) for threads, transport in timed.items()}
        for index in range(_ROUNDS):
            for threads, driver in drivers.items():
                progress(f"one thread and two, round {index + 1} of {_ROUNDS}")
                stopwatch = timed[threads]
                stopwatch.cycles, stopwatch.seconds = 0, 0.0
                for _ in range(_THREAD_RUNS):
                    driver.run(0, limit=_LIMIT)
                speeds[threads].append(stopwatch.cycles / stopwatch.seconds)
    one, two = (statistics.median(found) for found in speeds.values())
    return [Figure(name="processors", value=processors()),
            Figure(name="preset cora, one thread", value=one, unit="cycles/s"),
            Figure(name="preset cora, two threads", value=two, unit="cycles/s"),
            Figure(name="two threads against one", value=two / one, bar=_THREADS_BAR)]


def _cora(data: Path, progress: Callable[[str], None]) -> list[Figure]:
    """The time of Cora's training, from a few steps of it."""
    graph = Graph.load(str(data))
    network = Network.of_widths([graph.features.shape[1], 16, graph.classes], dropout=0.5)
    model = prepare(graph, network, Recipe(epochs=_EPOCHS))
    device = open_device("rtl", model, _LARGE, progress=progress)
    chip = device.chip
    assert chip
    try:
        start = time.perf_counter()
        for step in range(_STEPS):
            progress(f"Cora, training step {step + 1} of {_STEPS}")
            device.train_step()
        seconds = time.perf_counter() - start
    finally:
        device.close()
    return [
        Figure(name="Cora, preset cora: cycles of a training step",
               value=chip.train_cycles // _STEPS, unit="cycles"),
        Figure(name="Cora, preset cora", value=chip.train_cycles / seconds, unit="cycles/s"),
        Figure(name=f"Cora, preset cora: {_EPOCHS} training steps, projected from {_STEPS}",
               value=seconds / _STEPS * _EPOCHS, unit="s", bar=_EPOCHS_BAR, relation="<=")]


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; Cora's only with ``data``, the folder with its Planetoid files."""
    figures = [*_measure_compiling(progress), *_threads(progress)]
    if data is not None:
        figures += _cora(data, progress)
    return [*figures, *_against_verilator(progress), *_against_pysim(progress)]
