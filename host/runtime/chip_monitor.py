# SPDX-License-Identifier: BSD-2-Clause
"""Reads a chip's own account: its place in the program, its errors, and its counters."""

from collections.abc import Sequence

from hypercast.host.runtime.memory_access import MemoryAccess
from hypercast.host.transport.transport import Transport
from hypercast.rtl.isa import Engine, Opcode
from hypercast.rtl.registers import (
    ALL_CORES,
    COUNTERS,
    PHASES,
    CoreSpace,
    Error,
    Space,
    Status,
    register,
)

__all__ = ["ChipMonitor", "engine_names"]

#: Counter name to its number.
_NUMBERS = {name: number for number, name in enumerate(COUNTERS)}
#: Counters of faults, and the memories that they are of.
_MEMORY_FAULTS = {
    "features_faults": "memory channel 0", "gradients_faults": "memory channel 1",
    "weights_faults": "weight bank",
    "buffer_faults": "what is kept close to engines, or their tables",
}


def engine_names(mask: int) -> str:
    """Names of the engines whose bits are set, for people."""
    return ", ".join(engine.name.lower() for engine in Engine if mask >> engine & 1) or "none"


class ChipMonitor:
    """Registers and counters of a chip, read while it works or after a run.

    Parameters
    ----------
    transport : Transport
        How to reach the chip.
    memories : MemoryAccess
        Reads the spaces of its cores.
    cores : int
        Cores of the chip.
    """

    def __init__(self, transport: Transport, memories: MemoryAccess, cores: int) -> None:
        self._transport, self._memories, self._cores = transport, memories, cores

    def _read(self, name: str) -> int:
        return self._transport.read(register(name))

    def clear_errors(self) -> Error:
        """The ``Error`` bits that are set; they are cleared."""
        error = Error(self._read("error"))
        self._transport.write(register("error"), error)
        return error

    def explain(self, error: Error) -> str:
        """The meaning of an error of the numbers or of the network, and the remedy."""
        advice = ""
        if error & (Error.EXPONENT | Error.ALIGNMENT):
            advice += (": numbers grew too large; lower the learning rate, train with adam, or "
                       "scale the features down")
        if error & Error.ACCUMULATOR:
            advice += (": a gradient's sum over the vertices took more bits than an accumulator "
                       "has; train on samples, which have fewer vertices, or with element_width 8")
        if error & Error.LINK:
            faults = self.counters()["link_faults"]
            cores = ", ".join(str(core) for core, count in enumerate(faults) if count)
            advice += f": flits came corrupted over links to cores {cores}"
        if error & Error.STALLED:
            advice += ": nothing moved any more, a flit or a credit may be lost"
        if error & Error.MEMORY:
            advice += f": memories failed, or words in them had changed: {self._memory_faults()}"
        if error & Error.PROGRAM:
            advice += ": an instruction or a tensor's exponent had changed in memory"
        if error & (Error.MEMORY | Error.PROGRAM):
            advice += ("; results are void, load the device again from the last checkpoint; if "
                       "that does not help, hypercast selftest tests the memories")
        if error & Error.RUNAWAY:
            advice += (": something moved in more cycles than in any run of this program: what has "
                       "to run before it did not, or what it reads is not what was loaded")
        if error & (Error.LINK | Error.STALLED | Error.NETWORK | Error.RUNAWAY | Error.ACCUMULATOR):
            advice += "; results are void, load the device again, which resets it"
        return advice

    def _memory_faults(self) -> str:
        """Memories that had faults, and their cores."""
        counters = self.counters()
        return "; ".join(
            f"{what} of core{'s' * (len(cores) > 1)} {', '.join(map(str, cores))}"
            for name, what in _MEMORY_FAULTS.items()
            if (cores := [core for core, count in enumerate(counters[name]) if count]))

    def cycles(self) -> int:
        """Cycles since the last start, until the program ended."""
        low = self._read("cycles_low")
        return self._read("cycles_high") << 32 | low

    def where(self) -> str:
        """One line on where the device is."""
        row = self._read("pc")
        opcode = self._memories.read_window(0, Space.PROGRAM, row * 16, 1)[0] & 0xF \
            if not Status(self._read("status")) & Status.RUNNING else None
        what = f" ({Opcode(opcode).name})" if opcode in set(Opcode) else ""
        return (f"program row {row}{what}, waiting for {engine_names(self._read('waits'))}, busy: "
                f"{engine_names(self._read('busy'))}, step {self._read('step')}, "
                f"{self.cycles()} cycles")

    def phase_cycles(self) -> list[int]:
        """Cycles of each phase in the last run."""
        return [self._read(f"phase_{index}") for index in range(PHASES)]

    def counters(self, names: Sequence[str] = tuple(COUNTERS)) -> dict[str, list[int]]:
        """Performance counters of the last run, or some: name to a value for each core.

        Counters between the first and the last of them are read, too.
        """
        numbers = [_NUMBERS[name] for name in names]
        first, last = min(numbers), max(numbers)
        count = last - first + 1
        values = [self._memories.read_window(core, Space.CORE, CoreSpace.COUNTERS + first, count)
                  for core in range(self._cores)]
        return {name: [row[number - first] for row in values]
                for name, number in zip(names, numbers, strict=True)}

    def totals(self, names: Sequence[str]) -> dict[str, int]:
        """Sums over all cores of some performance counters of the last run.

        Counters between the first and the last of them are read, too.
        """
        numbers = [_NUMBERS[name] for name in names]
        first, count = min(numbers), max(numbers) - min(numbers) + 1
        low, high = (self._memories.read_window(ALL_CORES, Space.CORE, base + first, count)
                     for base in (CoreSpace.COUNTERS, CoreSpace.CARRIES))
        return {name: high[number - first] << 32 | low[number - first]
                for name, number in zip(names, numbers, strict=True)}
