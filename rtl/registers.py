# SPDX-License-Identifier: BSD-2-Clause
"""The host's view of the chip: control registers, window spaces and performance counters.

This module imports no Amaranth; the hardware, the driver and the manifest share it.
"""

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.isa import INSTRUCTION_WORDS, PHASE_WIDTH, Engine

__all__ = [
    "ALL_CORES", "COUNTERS", "LIMIT_UNIT", "MAGIC", "PHASES", "REGISTERS", "REGISTER_BYTES",
    "Control", "CoreSpace", "Counter", "Error", "Field", "Register", "Space", "Status",
    "bulk_address", "register", "striped_address",
]

#: Read from register ``magic``: "HCST".
MAGIC = 0x48435354
#: Bytes that the registers' addresses span.
REGISTER_BYTES = 4096
#: In register ``core``: all cores.
ALL_CORES = 0xFFFFFFFF
#: Cycles in which something moves that a unit of register ``limit`` stands for.
LIMIT_UNIT = 256
#: Phase counters the controller keeps.
PHASES = 1 << PHASE_WIDTH


class _Flags(enum.IntFlag):
    """Flags that are written as value and description."""

    description: str

    def __new__(cls, value: int, description: str = "") -> Self:
        member = int.__new__(cls, value)
        member._value_, member.description = value, description
        return member


class _Numbers(enum.IntEnum):
    """Numbers that are written as value and description."""

    description: str

    def __new__(cls, value: int, description: str = "") -> Self:
        member = int.__new__(cls, value)
        member._value_, member.description = value, description
        return member


class Status(_Flags):
    """Bits of register ``status``."""

    RUNNING = 1, "A program is running"
    DONE = 2, "The last program reached HALT; cleared by `start`"
    ERROR = 4, "Register `error` is not zero; the program stopped"
    RESETTING = 8, "A `reset` is under way; nothing else may be done"
    BULK = 16, "The chip has a bulk port; constant"


class Control(_Flags):
    """Bits of register ``control``; writing a one acts once."""

    START = 1, "Clear the counters and run from `entry`, `repeat` times"
    STOP = 2, "Stop issuing; what is under way finishes"
    RESET = 4, ("Reset the cores, and what follows programs, whatever they do; memories, `entry`, "
                "`repeat` and the window's place do not change")


class Error(_Flags):
    """Bits of register ``error``."""

    OPCODE = 1, "An instruction's opcode is unknown"
    EXPONENT = 2, "A tensor's exponent left its range"
    ALIGNMENT = 4, "A bias, gradient or logits cannot be aligned with its accumulators"
    WINDOW = 8, "The window was used on a space or core that does not exist"
    NETWORK = 16, "A core received a flit it did not expect"
    LINK = 32, "What came over a link was corrupted, or there was no room for it"
    STALLED = 64, "Nothing moved in the whole chip for a long time"
    MEMORY = 128, ("A memory answered with an error, or a word in it had changed; the counters "
                   "`..._faults` of the cores say where")
    PROGRAM = 256, "An instruction, or an entry of the exponent file, had changed in its memory"
    RUNAWAY = 512, "Something moved in more cycles than `limit` allows: it would not have ended"
    ACCUMULATOR = 1024, "A sum over vertices did not fit its accumulator"


class Space(_Numbers):
    """Address spaces behind the window; all but the first two are the selected core's."""

    PROGRAM = 0, f"Instructions, {INSTRUCTION_WORDS} words each, padded to 16 words per row"
    TENSORS = 1, "Exponent file: bits 7:0 exponent (signed), 15:8 peak (signed), 16 peak valid"
    FEATURES = 2, "The core's memory channel 0, word by word, low 32 bits first"
    GRADIENTS = 3, "The core's memory channel 1, word by word, low 32 bits first"
    WEIGHTS = 4, ("The core's weight bank, row by row, padded to a memory word, low 32 bits "
                  "first")
    CORE = 5, "The core's row counts and performance counters"


class CoreSpace(_Numbers):
    """Base addresses within ``Space.CORE``."""

    ROWS = 0, "Row counts that instructions name, writable"
    COUNTERS = 1024, "Performance counters; cleared by `start`"
    CARRIES = 1152, "What the counters' sums over all cores have beyond 32 bits"


@dataclass(frozen=True, kw_only=True)
class Field:
    """Consecutive bits of a register.

    Parameters
    ----------
    name : str
        Name.
    low, width : int
        Lowest bit, and number of bits.
    description : str
        What the bits mean.
    values : enum type or None
        What the field's values mean, if they are few.
    """

    name: str
    low: int
    width: int
    description: str
    values: type[_Numbers] | None = None


@dataclass(frozen=True, kw_only=True)
class Register:
    """One 32-bit register of the AXI4-Lite port.

    Parameters
    ----------
    name : str
        Name.
    offset : int
        Byte offset.
    access : str
        ``"r"`` or ``"rw"``.
    description : str
        What the register holds, with units.
    reset : int or None
        Value that is read after reset; None if it is the configuration hash.
    fields : tuple of Field
        The register's fields, lowest first; none if it is one number. Other bits read as zero.
    read_acts : bool
        Whether reading it changes something.
    ones_clear : bool
        Whether writing a one clears the bit, and writing a zero leaves it.
    held : bool
        Whether it only holds what was written.
    """

    name: str
    offset: int
    access: str
    description: str
    reset: int | None = 0
    fields: tuple[Field, ...] = ()
    read_acts: bool = False
    ones_clear: bool = False
    held: bool = False

    def reset_value(self, config: Config) -> int:
        """Value that is read from the register after reset in a configuration."""
        return config.hash if self.reset is None else self.reset


def _bits(flags: Iterable[_Flags]) -> tuple[Field, ...]:
    """A field for each flag."""
    return tuple(Field(name=str(flag.name).lower(), low=flag.bit_length() - 1, width=1,
                       description=flag.description) for flag in flags)


def _engines(text: str) -> tuple[Field, ...]:
    """A field for each engine."""
    return tuple(Field(name=engine.name.lower(), low=int(engine), width=1,
                       description=f"{text} {engine.name}") for engine in Engine)


REGISTERS = (
    Register(name="magic", offset=0x00, access="r", description="0x48435354, 'HCST'",
             reset=MAGIC),
    Register(name="version", offset=0x04, access="r", description="Interface version",
             reset=INTERFACE_VERSION),
    Register(name="config_hash", offset=0x08, access="r", description="Configuration hash",
             reset=None),
    Register(name="status", offset=0x0C, access="r", description="What the chip is doing",
             fields=_bits(Status)),
    Register(name="error", offset=0x10, access="rw",
             description="Sticky error bits; writing ones clears them",
             fields=_bits(Error), ones_clear=True),
    Register(name="control", offset=0x14, access="rw",
             description="Writing a one acts once; reads as zero", fields=_bits(Control)),
    Register(name="entry", offset=0x18, access="rw", held=True,
             description="Program row at which `start` begins"),
    Register(name="repeat", offset=0x1C, access="rw", held=True, reset=1,
             description="How often `start` runs the program from `entry` to HALT, at least 1"),
    Register(name="pc", offset=0x20, access="r", description="Program row being issued"),
    Register(name="busy", offset=0x24, access="r", description="Engines busy in any core",
             fields=_engines("Some core's engine is busy:")),
    Register(name="step", offset=0x28, access="rw", description="Training steps done"),
    Register(name="step_key", offset=0x2C, access="rw",
             description="Added to every dropout key; 0x9E3779B9 more, modulo 2**32, after each "
                         "training step"),
    Register(name="cycles_low", offset=0x30, access="r", read_acts=True,
             description="Cycles since `start`, low 32 bits; reading latches the high half"),
    Register(name="cycles_high", offset=0x34, access="r",
             description="Cycles since `start`, high 32 bits, as latched"),
    Register(name="core", offset=0x38, access="rw", held=True,
             description="Core the window looks into; 0xFFFFFFFF: all cores, of space CORE only, "
                         "of which a read gives the sum, and which a write goes to"),
    Register(name="space", offset=0x3C, access="rw", held=True,
             description="What the window looks at", fields=(
                 Field(name="space", low=0, width=32, description="Address space",
                       values=Space),)),
    Register(name="address", offset=0x40, access="rw", held=True,
             description="Window address in 32-bit units; each data access adds one"),
    Register(name="data", offset=0x44, access="rw", read_acts=True, description="Window data"),
    Register(name="waits", offset=0x48, access="r",
             description="Engines the next instruction is waiting for",
             fields=_engines("The next instruction waits for")),
    Register(name="limit", offset=0x4C, access="rw", held=True, reset=0xFFFFFFFF,
             description=f"Cycles in which something moves, in units of {LIMIT_UNIT}, after which "
                         "what `start` began is stopped"),
    *(Register(name=f"phase_{index}", offset=0x80 + 4 * index, access="r",
               description=f"Cycles of phase {index} since `start`") for index in range(PHASES)),
)


def register(name: str) -> int:
    """The byte offset of the register called ``name``."""
    return next(entry.offset for entry in REGISTERS if entry.name == name)


@dataclass(frozen=True)
class Counter:
    """A performance counter, or a result that is read as one.

    Parameters
    ----------
    description : str
        What one count means.
    most : callable or None
        Takes a ``Config``: by how much it grows in a cycle at most, 0 where it is not built. None
        if it is a result, which the core does not count.
    """

    description: str
    most: Callable[[Config], int] | None = lambda config: 1


def _each_port(config: Config) -> int:
    """An event of each ejection port."""
    return config.eject


def _each_lane(config: Config) -> int:
    """Three of each lane: an element, its master weight and its momentum."""
    return 3 * config.lanes


def _link(dimension: int) -> Callable[[Config], int]:
    """A flit, on chips that have the dimension."""
    return lambda config: int(dimension < config.dimensions)


def bulk_address(core: int, space: Space, offset: int) -> int:
    """Address in the bulk port of the byte ``offset``, below 2**29, of a core's space."""
    return core << 32 | space << 29 | offset


def striped_address(space: Space, offset: int) -> int:
    """Address in the bulk port of the byte ``offset``, below 2**37, of all cores' channels.

    Memory words that follow one another lie in core 0, in core 1, and so on to the last core. The
    next row of all cores follows. So the word at ``row`` of ``core`` is number ``row * cores +
    core``. Bursts can write there, and cannot read.

    Parameters
    ----------
    space : Space
        FEATURES or GRADIENTS.
    offset : int
        Byte, counted from the channel's first word in core 0.
    """
    return 1 << 38 | (space == Space.GRADIENTS) << 37 | offset


#: What every core counts, by name, in the order in which the host reads it.
COUNTERS = {
    "sent": Counter("flits injected into the network"),
    "send_blocked": Counter("cycles in which a flit waited for injection"),
    "edges": Counter("edges accumulated, all aggregators", most=_each_port),
    "edge_starved": Counter(
        "cycles, of all aggregators, in which a flit waited for its edges", most=_each_port),
    "array_words": Counter("words fed into the systolic array"),
    "array_starved": Counter("cycles in which the array waited for memory"),
    "array_blocked": Counter("cycles in which the array waited for tile loads or gradient rows"),
    "vector_words": Counter("words the vector unit produced"),
    "vector_starved": Counter("cycles in which the vector unit waited for memory"),
    "vector_blocked": Counter("cycles in which the vector unit waited to write"),
    "features_read": Counter("words read from memory channel 0"),
    "features_written": Counter("words written to memory channel 0"),
    "gradients_read": Counter("words read from memory channel 1"),
    "gradients_written": Counter("words written to memory channel 1"),
    "saturations": Counter(
        "elements, master weights or momenta that saturated", most=_each_lane),
    "loss_train": Counter("summed loss of training vertices, 2**-12 bits, low 32 bits", most=None),
    "loss_train_high": Counter("summed loss of training vertices, high 32 bits", most=None),
    "loss_validation": Counter("summed loss of validation vertices, low 32 bits", most=None),
    "loss_validation_high": Counter("summed loss of validation vertices, high 32 bits", most=None),
    "loss_test": Counter("summed loss of test vertices, low 32 bits", most=None),
    "loss_test_high": Counter("summed loss of test vertices, high 32 bits", most=None),
    "correct_train": Counter(
        "training vertices classified correctly; of several labels, true positives", most=None),
    "correct_validation": Counter(
        "validation vertices classified correctly; of several labels, true positives", most=None),
    "correct_test": Counter(
        "test vertices classified correctly; of several labels, true positives", most=None),
    "wrong_train": Counter(
        "false positives and negatives, of training vertices with several labels", most=None),
    "wrong_validation": Counter(
        "false positives and negatives, of validation vertices with several labels", most=None),
    "wrong_test": Counter(
        "false positives and negatives, of test vertices with several labels", most=None),
    **{f"link_{dimension}": Counter(f"flits sent along dimension {dimension}",
                                    most=_link(dimension)) for dimension in range(6)},
    "link_faults": Counter("cycles in which something wrong came over a link"),
    "features_faults": Counter(
        "words of memory channel 0 that had changed, or accesses it refused"),
    "gradients_faults": Counter(
        "words of memory channel 1 that had changed, or accesses it refused"),
    "weights_faults": Counter("rows of the weight bank that had changed"),
    "buffer_faults": Counter(
        "words kept close to an engine, entries of its tables, or row counts that had changed"),
}
