"""The host's view of the chip: control registers, window spaces and performance counters.

This module imports no Amaranth; the hardware, the driver and the manifest share it.
"""

import enum
from dataclasses import dataclass

__all__ = [
    "COUNTERS", "MAGIC", "PHASES", "REGISTERS", "ROW_TABLE", "Control", "CoreSpace", "Error",
    "Register", "Space", "Status", "register",
]

#: Read from register ``magic``: "HCST".
MAGIC = 0x48435354
#: Phase counters the controller keeps.
PHASES = 16
#: Entries of each core's row-count table (an instruction's ``vertices``).
ROW_TABLE = 16


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
        What it holds, with units.
    """

    name: str
    offset: int
    access: str
    description: str


REGISTERS = (
    Register(name="magic", offset=0x00, access="r", description="0x48435354, 'HCST'"),
    Register(name="version", offset=0x04, access="r", description="Interface version"),
    Register(name="config_hash", offset=0x08, access="r", description="Configuration hash"),
    Register(name="status", offset=0x0C, access="r", description="Bits: see Status"),
    Register(name="error", offset=0x10, access="rw",
             description="Sticky error bits, see Error; writing ones clears them"),
    Register(name="control", offset=0x14, access="rw",
             description="Bits: see Control; reads as zero"),
    Register(name="entry", offset=0x18, access="rw",
             description="Program row at which `start` begins"),
    Register(name="repeat", offset=0x1C, access="rw",
             description="How often `start` runs the program from `entry` to HALT, at least 1"),
    Register(name="pc", offset=0x20, access="r", description="Program row being issued"),
    Register(name="busy", offset=0x24, access="r",
             description="Engines busy in any core, bits as in isa.Engine"),
    Register(name="step", offset=0x28, access="rw", description="Training steps done"),
    Register(name="step_key", offset=0x2C, access="rw",
             description="step * 0x9E3779B9 modulo 2**32, added to every dropout key"),
    Register(name="cycles_low", offset=0x30, access="r",
             description="Cycles since `start`, low 32 bits; reading latches the high half"),
    Register(name="cycles_high", offset=0x34, access="r",
             description="Cycles since `start`, high 32 bits, as latched"),
    Register(name="core", offset=0x38, access="rw", description="Core the window looks into"),
    Register(name="space", offset=0x3C, access="rw", description="Space of the window, see Space"),
    Register(name="address", offset=0x40, access="rw",
             description="Window address in 32-bit units; each data access adds one"),
    Register(name="data", offset=0x44, access="rw", description="Window data"),
    Register(name="waits", offset=0x48, access="r",
             description="Engines the next instruction is waiting for, bits as in isa.Engine"),
    *(Register(name=f"phase_{index}", offset=0x80 + 4 * index, access="r",
               description=f"Cycles of phase {index} since `start`") for index in range(PHASES)),
)


def register(name):
    """The byte offset of the register called ``name``."""
    return next(entry.offset for entry in REGISTERS if entry.name == name)


class Status(enum.IntFlag):
    """Bits of register ``status``."""

    RUNNING = 1  #: A program is running.
    DONE = 2     #: The last program reached HALT (cleared by ``start``).
    ERROR = 4    #: Register ``error`` is not zero; the program stopped.


class Control(enum.IntFlag):
    """Bits of register ``control``; writing a one acts once."""

    START = 1  #: Clear the counters and run from ``entry``, ``repeat`` times.
    STOP = 2   #: Stop issuing; what is under way finishes.


class Error(enum.IntFlag):
    """Bits of register ``error``."""

    OPCODE = 1        #: An instruction's opcode is unknown.
    EXPONENT = 2      #: A tensor exponent left its range (isa.MAXIMUM_EXPONENT).
    ALIGNMENT = 4     #: A bias, gradient or logits cannot be aligned with its accumulators.
    WINDOW = 8        #: The window was used on a space or core that does not exist.
    NETWORK = 16      #: A core received a flit it did not expect.
    LINK = 32         #: What came over a link was corrupted, or there was no room for it.
    STALLED = 64      #: Nothing moved in the whole chip for a long time (control.watchdog).


class Space(enum.IntEnum):
    """Address spaces behind the window; all but the first two are the selected core's."""

    PROGRAM = 0    #: Instructions, 10 words each, padded to 16 words per row.
    TENSORS = 1    #: Exponent file: bits 7:0 exponent (signed), 15:8 peak (signed), 16 peak valid.
    FEATURES = 2   #: Memory channel 0, ``Config.chunks`` words per memory word.
    GRADIENTS = 3  #: Memory channel 1, likewise.
    WEIGHTS = 4    #: Weight bank, ``Config.chunks`` words per row.
    CORE = 5       #: Row table and counters, see CoreSpace.


class CoreSpace(enum.IntEnum):
    """Base addresses within ``Space.CORE``."""

    ROWS = 0       #: ``ROW_TABLE`` row counts, writable.
    COUNTERS = 64  #: One word per entry of ``COUNTERS``; cleared by ``start``.


#: Performance counters of every core: name, and what one count means.
COUNTERS = (
    ("sent", "flits injected into the network"),
    ("send_blocked", "cycles in which a flit waited for injection"),
    ("edges", "edges accumulated, all lanes"),
    ("edge_starved", "lane-cycles in which a flit waited for its edges"),
    ("array_words", "words fed into the systolic array"),
    ("array_starved", "cycles in which the array waited for memory"),
    ("array_blocked", "cycles in which the array waited for tile loads or gradient rows"),
    ("vector_words", "words the vector unit produced"),
    ("vector_starved", "cycles in which the vector unit waited for memory"),
    ("vector_blocked", "cycles in which the vector unit waited to write"),
    ("features_read", "words read from memory channel 0"),
    ("features_written", "words written to memory channel 0"),
    ("gradients_read", "words read from memory channel 1"),
    ("gradients_written", "words written to memory channel 1"),
    ("saturations", "elements, master weights or momenta that saturated"),
    ("loss_train", "summed loss of training vertices, 2**-12 bits, low 32 bits"),
    ("loss_train_high", "the same, high 32 bits"),
    ("loss_validation", "summed loss of validation vertices, low 32 bits"),
    ("loss_validation_high", "the same, high 32 bits"),
    ("loss_test", "summed loss of test vertices, low 32 bits"),
    ("loss_test_high", "the same, high 32 bits"),
    ("correct_train", "training vertices classified correctly"),
    ("correct_validation", "validation vertices classified correctly"),
    ("correct_test", "test vertices classified correctly"),
    *((f"link_{dimension}", f"flits sent along dimension {dimension}") for dimension in range(6)),
    ("link_faults", "cycles in which something wrong came over a link"),
)
