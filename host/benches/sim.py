"""Speed of the compiled simulation against Amaranth's simulator: one program on the whole chip."""

import time
from collections.abc import Callable
from pathlib import Path

from hypercast.host.benches.figure import Figure
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.transport import Transport
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Engine, Opcode, encode
from hypercast.rtl.registers import COUNTERS, CoreSpace, Space, register
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from hypercast.sim.pysim_transport import PysimTransport

__all__ = ["run"]

_CONFIG = PRESETS["demo"]
#: Rows each core processes.
_ROWS = 8
#: Cycles after which a run is given up.
_LIMIT = 10_000
#: Runs of the compiled simulation that are timed; one takes it a fraction of a second.
_COMPILED_RUNS = 10
#: The core whose counters are compared, and how many of them: those of work done.
_CORE, _COUNTERS = 5, list(COUNTERS).index("loss_train")
#: One row of optimiser state, for core 0 to send to all: masters 5, 6, 7, 8, momenta zero.
_MASTERS = [weight << 26 for weight in range(5, 5 + _CONFIG.lanes)]


def _program():
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
        encode(Opcode.GRADIENT, panels=_CONFIG.cores, ones=1, digits=_CONFIG.digits,
               gradient_address=made),
        encode(Opcode.DRAIN, buffer=1, address=result, o=3, **rows),
        encode(Opcode.HALT),
    ]


class _Stopwatch(Transport):
    """Another transport, and the time that the cycles it let pass took."""

    def __init__(self, transport):
        self._transport = transport
        self.cycles, self.seconds = 0, 0.0

    def read(self, address):
        return self._transport.read(address)

    def write(self, address, value):
        self._transport.write(address, value)

    def wait(self, cycles):
        start = time.perf_counter()
        self._transport.wait(cycles)
        self.seconds += time.perf_counter() - start
        self.cycles += cycles


def _select(transport, core, space, address):
    for name, value in (("core", core), ("space", space), ("address", address)):
        transport.write(register(name), value)


def _write(transport, core, space, address, values):
    """Write through the window; the memories were zero, so zeros at the end are left out."""
    _select(transport, core, space, address)
    for value in values:
        transport.write(register("data"), value)


def _run(transport, runs):
    """Run the program; returns its cycles, counters of a core, and simulated cycles per second."""
    transport = _Stopwatch(transport)
    driver = Driver(transport, _CONFIG)
    for core in range(_CONFIG.cores):
        _write(transport, core, Space.CORE, CoreSpace.ROWS, [_ROWS])
    _write(transport, 0, Space.GRADIENTS, 0, _MASTERS)
    for row, instruction in enumerate(_program()):
        words = -(-instruction.bit_length() // 32)
        driver.write_window(0, Space.PROGRAM, row * 16, [
            instruction >> 32 * index & 0xFFFFFFFF for index in range(words)])
    cycles = driver.run(0, limit=_LIMIT)
    _select(transport, _CORE, Space.CORE, CoreSpace.COUNTERS)
    counters = [transport.read(register("data")) for _ in range(_COUNTERS)]
    for _ in range(runs - 1):
        driver.run(0, limit=_LIMIT)
    return cycles, counters, transport.cycles / transport.seconds


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    progress("building the compiled simulation")
    transport = CxxrtlTransport(_CONFIG, progress=progress)
    progress("running the compiled simulation")
    expected, expected_counters, compiled = _run(transport, _COMPILED_RUNS)
    transport.close()
    progress("elaborating the chip for Amaranth's simulator")
    start = time.perf_counter()
    transport = PysimTransport(_CONFIG)
    elaboration = time.perf_counter() - start
    progress("running Amaranth's simulator")
    cycles, counters, interpreted = _run(transport, 1)
    return [
        Figure(name="CXXRTL", value=compiled, unit="cycles/s"),
        Figure(name="Amaranth's simulator", value=interpreted, unit="cycles/s"),
        Figure(name="ratio", value=compiled / interpreted, bar=50),
        Figure(name="Amaranth's simulator: until the first cycle", value=elaboration, unit="s"),
        Figure(name="the program's cycles, Amaranth's simulator and CXXRTL", value=cycles,
               bar=expected, relation="="),
        Figure(name=f"counters of core {_CORE} that are equal",
               value=sum(map(int.__eq__, counters, expected_counters)),
               bar=len(expected_counters), relation="="),
        Figure(name="words that core multiplied",
               value=counters[list(COUNTERS).index("array_words")]),
    ]
