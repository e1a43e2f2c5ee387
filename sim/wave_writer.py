# SPDX-License-Identifier: BSD-2-Clause
"""Writes waveforms: a VCD or FST file with the names of the sources, and files for viewers.

The files list the signals that GTKWave and Surfer show at first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from vcd import VCDWriter
from vcd.gtkw import GTKWSave
from vcd.writer import Variable

from hypercast.host.files.durable_file import open_new, write_durably
from hypercast.rtl.isa import INSTRUCTION_WIDTH, Engine, decode
from hypercast.sim.surfer_commands import SurferCommands
from hypercast.sim.wave_signals import Changes, Places, changes, columns
from hypercast.sim.waves import Waves

__all__ = ["WaveWriter", "instruction_text"]

#: Scope of texts that are made from signals, for reading.
_DECODED = "decoded"
#: Blocks of a core, as groups that viewers show.
_BLOCKS = ("sender", "receiver", "array", "vector", "router", "weights", "host")


def instruction_text(word: int) -> str:
    """An instruction and its operands that are not zero, as text without spaces."""
    fields = decode(word)
    operation = fields.pop("opcode")
    return ",".join([operation.name,  # type: ignore[attr-defined]
                     *(f"{name}={value}" for name, value in fields.items() if value)])


class _Signal:
    """A variable of the file, and where its values are."""

    def __init__(self, variable: "Variable[Any]", find: Callable[["_Samples"], Changes],
                 text: Callable[[int], Any] = int) -> None:
        self.variable = variable
        self.find = find
        self.text = text
        self.last: Any = None


class _Samples:
    """Samples of some cycles, cut into the control unit's items and the cores' pieces."""

    def __init__(self, data: npt.NDArray[np.uint8], control: int,
                 cores: Mapping[int, tuple[int, int]], places: Sequence[Places],
                 elements: int) -> None:
        self.count = len(data)
        self.control = data[:, :control]
        self.pieces = {core: columns(data[:, control + begin:], places, elements, member)
                       for core, (begin, member) in cores.items()}


class WaveWriter:
    """Writes the waveforms of a chip's samples.

    The unit of time is a cycle. Values are taken at its end, before the clock's edge.

    Parameters
    ----------
    waves : Waves
        The waveforms to write, and their file.
    signals : dict
        Name of each of a core's signals to where it is, see ``chip_header.signal_places``.
    control : list
        (name, bits) of each item of the control unit.
    elements, members : int
        Elements of a vector, and cores of a group.
    size : int
        Bytes of a group's sample.

    Raises
    ------
    OSError
        If a file cannot be written.
    """

    def __init__(self, waves: Waves, signals: Mapping[str, Places],
                 control: Sequence[tuple[str, int]], *, elements: int, members: int,
                 size: int) -> None:
        self._waves = waves
        self._places = list({str(places): places for places in signals.values()}.values())
        self._elements = elements
        self._control_size = sum(-(-bits // 32) * 4 for _, bits in control)
        groups = sorted({core // members for core in waves.cores})
        self._cores = {core: (groups.index(core // members) * size, core % members)
                       for core in waves.cores}
        self._file = waves.open_vcd()
        self._writer = VCDWriter(
            self._file, timescale="1 ns", date="", comment="the unit of time is a clock cycle",
            init_timestamp=waves.first)
        self._signals = [*self._decode(signals), *self._control(control),
                         *(signal for core in waves.cores for signal in self._core(core, signals))]
        self.cycles = 0
        with open_new(waves.save_file) as file:
            self._save(GTKWSave(file), signals)
        write_durably(waves.command_file, self._commands(signals).encode())

    def _core(self, core: int, signals: Mapping[str, Places]) -> Iterator[_Signal]:
        """All signals of a core; signals of the same net are one variable with many names."""
        known: dict[str, Variable[Any]] = {}
        for name, places in signals.items():
            scope, _, last = f"core_{core}.{name}".rpartition(".")
            if (variable := known.get(str(places))) is not None:
                self._writer.register_alias(scope, last, variable)
                continue
            variable = self._writer.register_var(
                scope, last, "wire", size=sum(run[3] for run in places))
            known[str(places)] = variable
            yield _Signal(variable, partial(_of_core, core, places))

    def _control(self, control: Sequence[tuple[str, int]]) -> Iterator[_Signal]:
        first = 0
        for name, bits in control:
            size = -(-bits // 32) * 4
            scope, _, last = f"control {name}".rpartition(" ")
            if "$" not in name:
                yield _Signal(
                    self._writer.register_var(scope.replace(" ", "."), last, "wire", size=bits),
                    partial(_of_control, first, size))
            first += size

    def _decode(self, signals: Mapping[str, Places]) -> Iterator[_Signal]:
        """The instruction issued last, and which engines are busy."""
        core = self._waves.cores[0]
        valid, word = signals["issue_valid"], signals["issue"]

        def issued(samples: _Samples) -> Changes:
            whole = changes(word, samples.pieces[core], samples.count)
            issue = changes(valid, samples.pieces[core], samples.count)
            high = np.repeat(issue.values, np.diff([*issue.rows, samples.count])).astype(bool)
            rows = np.flatnonzero(high)
            which = np.searchsorted(whole.rows, rows, side="right") - 1
            return Changes(rows, whole.values[which])
        yield _Signal(
            self._writer.register_var(_DECODED, "instruction", "string", init="-"), issued,
            lambda value: instruction_text(int(value) & (1 << INSTRUCTION_WIDTH) - 1))
        for core in self._waves.cores:
            for engine in Engine:
                yield _Signal(
                    self._writer.register_var(f"{_DECODED}.core_{core}", engine.name.lower(),
                                              "wire", size=1),
                    partial(_bit, core, signals["busy"], engine))

    def add(self, cycles: npt.NDArray[np.uint64], data: npt.NDArray[np.uint8]) -> None:
        """Write samples of some cycles.

        Parameters
        ----------
        cycles : (cycles,) numpy.ndarray
            Numbers of the cycles.
        data : (cycles, bytes) numpy.ndarray
            The samples: the control unit's items, then the groups of the cores.
        """
        samples = _Samples(data, self._control_size, self._cores, self._places, self._elements)
        found = [(int(row), number, value) for number, signal in enumerate(self._signals)
                 for row, value in zip(*signal.find(samples), strict=True)]
        for row, number, value in sorted(found, key=lambda change: change[:2]):
            signal = self._signals[number]
            if value != signal.last:
                signal.last = value
                self._writer.change(signal.variable, int(cycles[row]), signal.text(value))
        self.cycles += len(cycles)

    def close(self) -> None:
        """Write the end."""
        self._writer.close(self._waves.first + self.cycles)
        self._waves.finish(self._file)

    def _save(self, save: GTKWSave, signals: Mapping[str, Places]) -> None:
        self._waves.name_in(save)
        save.timestart(self._waves.first)
        save.trace(f"{_DECODED}.instruction", datafmt="ascii")
        for core in self._waves.cores:
            with save.group(f"core {core}"):
                for engine in Engine:
                    save.trace(f"{_DECODED}.core_{core}.{engine.name.lower()}")
                for block in _BLOCKS:
                    with save.group(block, closed=True):
                        for name, places in signals.items():
                            if name.rpartition(".")[0] == block:
                                bits = sum(run[3] for run in places)
                                save.trace(f"core_{core}.{name}"
                                           + (f"[{bits - 1}:0]" if bits > 1 else ""))

    def _commands(self, signals: Mapping[str, Places]) -> str:
        """The commands for Surfer: GTKWave's signals, with dividers for groups of groups."""
        commands = SurferCommands()
        commands.variables([f"{_DECODED}.instruction"])
        scopes = {name.rpartition(".")[0] for name in signals}
        for core in self._waves.cores:
            commands.divider(f"core_{core}")
            commands.variables(f"{_DECODED}.core_{core}.{engine.name.lower()}" for engine in Engine)
            for block in _BLOCKS:
                if block in scopes:
                    commands.group(f"core_{core}.{block}")
        return commands.text


def _of_core(core: int, places: Places, samples: _Samples) -> Changes:
    return changes(places, samples.pieces[core], samples.count)


def _bit(core: int, places: Places, place: int, samples: _Samples) -> Changes:
    """One bit of a core's signal, perhaps with changes that are none."""
    found = _of_core(core, places, samples)
    return Changes(found.rows, found.values >> np.uint64(place) & np.uint64(1))


def _of_control(first: int, size: int, samples: _Samples) -> Changes:
    """An item of the control unit, in pieces of 32 bits."""
    words = np.ascontiguousarray(samples.control[:, first:first + size]).view("<u4")
    changed = np.ones(len(words), dtype=bool)
    changed[1:] = (words[1:] != words[:-1]).any(axis=1)
    rows = np.flatnonzero(changed)
    values = sum(words[rows, index].astype(object) << 32 * index
                 for index in range(words.shape[1]))
    return Changes(rows, np.asarray(values, dtype=object))
