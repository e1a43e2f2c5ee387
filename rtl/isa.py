"""The instruction set: opcodes, operand fields and their encoding.

This module imports no Amaranth; the hardware derives its layouts from the same tables. An
instruction is 352 bits: the header, then the operands of its opcode, least significant first, then
zeros. Addresses are word addresses that already point at the first row processed.
"""

import enum
from dataclasses import dataclass

__all__ = [
    "ADDRESS_WIDTH", "BASE_WIDTH", "FACTOR_WIDTH", "HEADER", "INSTRUCTION_WIDTH",
    "INSTRUCTION_WORDS", "MASTER_EXPONENT", "MAXIMUM_EXPONENT", "MINIMUM_EXPONENT", "OPERANDS",
    "OPERATIONS", "PANELS_WIDTH", "ROWS_WIDTH", "STEP_KEY_INCREMENT", "Bypass", "DrainSource",
    "Engine", "Kind", "Opcode", "OperandSource", "Operation", "Split", "decode", "encode",
    "engine_of", "largest", "opcodes_of",
]

INSTRUCTION_WIDTH = 352
INSTRUCTION_WORDS = INSTRUCTION_WIDTH // 32
#: Bits of a number of rows, of a core's local rows and of reduction rows.
ROWS_WIDTH = 20
#: Bits of the address of a word in a memory channel.
ADDRESS_WIDTH = 24
#: Bits of a number of panels.
PANELS_WIDTH = 14
#: Bits of a place in on-chip memory: rows of the weight bank and of the operand buffer.
BASE_WIDTH = 16
#: Bits of a factor's mantissa: of the optimiser, of means.
FACTOR_WIDTH = 16

#: Fixed exponent of the 32-bit master weights: range +-32, resolution 2**-26.
MASTER_EXPONENT = -26
#: No tensor's exponent is chosen below this; it keeps alignment shifts inside the accumulators.
MINIMUM_EXPONENT = -28
#: A tensor exponent above this stops the program with an error.
MAXIMUM_EXPONENT = 31
#: Added to the step key, modulo 2**32, after each training step (Knuth's golden ratio constant).
STEP_KEY_INCREMENT = 0x9E3779B9


class Opcode(enum.IntEnum):
    """What an instruction does, and which engine does it."""

    HALT = 0       #: End of the program; with ``step``, also end of a training step.
    AGGREGATE = 1  #: Aggregate engine: send a panel's rows, add what arrives.
    MATMUL = 2     #: Array, weight-stationary: rows times a panel of weights.
    GRADIENT = 3   #: Array, output-stationary: a weight gradient, sent to its rows' owners.
    DRAIN = 4      #: Vector unit: accumulators to memory.
    LOSS = 5       #: Vector unit: cross-entropy, its gradient and the metrics.
    UPDATE = 6     #: Vector unit: optimiser on the owned rows, new weights to all cores.


class Engine(enum.IntEnum):
    """Bit numbers of an instruction's ``waits`` and of a core's ``busy``."""

    AGGREGATE = 0  #: Sender or receiver still at work on an AGGREGATE.
    ARRAY = 1      #: MATMUL or GRADIENT under way, gradient rows not all sent included.
    VECTOR = 2     #: DRAIN, LOSS or UPDATE under way, or a write not yet visible.
    REDUCTION = 3  #: Digits of earlier GRADIENTs still to arrive at this core.
    WEIGHTS = 4    #: Weight rows of earlier UPDATEs still to arrive at this core.


class Kind(enum.IntEnum):
    """What a flit is for."""

    AGGREGATE = 0  #: Word of a row; the receiver's edge stream says where it is added.
    REDUCE = 1     #: Digit of a gradient; ``index`` is the accumulator row.
    WEIGHT = 2     #: New row of weights; ``index`` is the weight bank's row.


class DrainSource(enum.IntEnum):
    """Where a DRAIN takes its rows from."""

    ARRAY = 0        #: The array's accumulators.
    AGGREGATION = 1  #: The aggregators' accumulators, summed.


class Bypass(enum.IntEnum):
    """Where DRAIN and LOSS leave what they write, besides memory: bit numbers of ``bypass``."""

    LEFT = 0   #: The array's operand buffer.
    RIGHT = 1  #: Where the array takes the right operand of a GRADIENT from.
    SEND = 2   #: Where AGGREGATE takes rows to be sent from.


class OperandSource(enum.IntEnum):
    """Where a MATMUL or GRADIENT takes its left operand from; 3 means MEMORY, too."""

    MEMORY = 0  #: Memory.
    FILL = 1    #: Memory; its words also go to the operand buffer.
    BUFFER = 2  #: The operand buffer; nothing is read from memory.


class Split(enum.IntEnum):
    """Which set a vertex belongs to."""

    NONE = 0
    TRAIN = 1
    VALIDATION = 2
    TEST = 3


#: Field name and width of every instruction's first bits. ``waits``: engines that must be idle in
#: all cores. ``phase``: performance counter that the cycles from here on are added to.
HEADER = (("opcode", 4), ("waits", 8), ("phase", 4))

_ROWS = (("vertices", 4), ("row_start", ROWS_WIDTH), ("row_limit", 15))
_DROPOUT = (("dropout", 1), ("dropout_threshold", 16), ("dropout_key", 32))
_OPERAND = (("operand", 2), ("operand_base", BASE_WIDTH), ("operand_stride", BASE_WIDTH))
_BYPASS = (("bypass", 3), ("left_base", BASE_WIDTH), ("right_base", BASE_WIDTH),
           ("send_base", BASE_WIDTH))
_BYPASSED = (("bypassed", 1), ("bypass_base", BASE_WIDTH), ("chained", 1))
_TENSORS = (("a", 8), ("b", 8), ("o", 8), ("peak_of", 8), ("open", 1), ("headroom", -3))


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What hardware, compiler and tools know of an opcode.

    Parameters
    ----------
    operands : tuple of (str, int)
        Operand fields and their widths; a negative width marks a signed field.
        ``docs/instructions.md`` explains each.
    engine : Engine or None
        The engine that carries it out; None of HALT, which the controller does.
    arrivals : Engine or None
        The engine that goes on working for it after its own has finished, if there is one.
    adds : bool
        Whether it adds to accumulators; the others of those that use any take them out.
    """

    operands: tuple[tuple[str, int], ...]
    engine: Engine | None = None
    arrivals: Engine | None = None
    adds: bool = False

    @property
    def busy(self) -> tuple[Engine, ...]:
        """The engines that it makes busy."""
        return tuple(engine for engine in (self.engine, self.arrivals) if engine is not None)


#: What an opcode is. All else about opcodes follows from this.
OPERATIONS = {
    Opcode.HALT: Operation(operands=(("step", 1),)),
    Opcode.AGGREGATE: Operation(engine=Engine.AGGREGATE, adds=True, operands=(
        ("vertices", 4), ("buffer", 1), ("channel", 1), ("address", ADDRESS_WIDTH),
        ("send_list", ADDRESS_WIDTH), ("edge_set", ADDRESS_WIDTH), ("prefetch", 1), *_BYPASSED)),
    Opcode.MATMUL: Operation(engine=Engine.ARRAY, adds=True, operands=(
        *_ROWS, ("buffer", 1), ("channel", 1), ("sparse", 1), ("address", ADDRESS_WIDTH),
        ("stride", ADDRESS_WIDTH), ("panels", PANELS_WIDTH), ("weights", BASE_WIDTH),
        ("weight_stride", BASE_WIDTH), ("transposed", 1), *_DROPOUT, ("panel", PANELS_WIDTH),
        *_OPERAND, ("chained", 1))),
    Opcode.GRADIENT: Operation(engine=Engine.ARRAY, arrivals=Engine.REDUCTION, adds=True, operands=(
        ("vertices", 4), ("buffer", 1), ("sparse", 1), ("address", ADDRESS_WIDTH),
        ("stride", ADDRESS_WIDTH), ("panels", PANELS_WIDTH), ("ones", 1), ("gradient_channel", 1),
        ("gradient_address", ADDRESS_WIDTH), ("first_row", ROWS_WIDTH), ("digits", 3), ("sums", 1),
        ("sums_row", ROWS_WIDTH), *_DROPOUT, ("panel", PANELS_WIDTH), *_OPERAND, *_BYPASSED)),
    Opcode.DRAIN: Operation(engine=Engine.VECTOR, operands=(
        *_ROWS, ("source", 1), ("buffer", 1), ("channel", 1), ("address", ADDRESS_WIDTH), *_TENSORS,
        ("exponent_bias", -6), ("scale", FACTOR_WIDTH), ("bias", 1), ("bias_tensor", 8),
        ("bias_weights", BASE_WIDTH), ("relu", 1), ("mask_write", 1), ("mask_read", 1),
        ("mask_address", ADDRESS_WIDTH), *_DROPOUT, ("panel", PANELS_WIDTH), *_BYPASS)),
    Opcode.LOSS: Operation(engine=Engine.VECTOR, operands=(
        ("vertices", 4), ("channel", 1), ("address", ADDRESS_WIDTH), ("stride", ADDRESS_WIDTH),
        ("panels", 9), ("classes", 10), ("info", ADDRESS_WIDTH), ("destination", ADDRESS_WIDTH),
        *_TENSORS, ("train", 1), ("sigmoid", 1), ("weighted", 1), *_BYPASS)),
    Opcode.UPDATE: Operation(engine=Engine.VECTOR, arrivals=Engine.WEIGHTS, operands=(
        ("buffer", 1), ("first_row", ROWS_WIDTH), ("rows", ROWS_WIDTH), ("weights", BASE_WIDTH),
        ("state", ADDRESS_WIDTH), *_TENSORS, ("momentum_exponent", -8), ("momentum", FACTOR_WIDTH),
        ("decay", FACTOR_WIDTH), ("decay_shift", 6), ("rate", FACTOR_WIDTH), ("rate_shift", 6),
        ("adam", 1), ("second_decay", FACTOR_WIDTH), ("second_decay_shift", 6), ("epsilon", 18),
        ("epsilon_exponent", 5))),
}
#: Operand fields of each opcode, as ``Operation.operands``.
OPERANDS = {opcode: operation.operands for opcode, operation in OPERATIONS.items()}


def engine_of(opcode: Opcode) -> Engine:
    """The engine that carries out an opcode other than HALT."""
    engine = OPERATIONS[opcode].engine
    assert engine is not None, opcode
    return engine


def opcodes_of(engine: Engine) -> tuple[Opcode, ...]:
    """The opcodes that make an engine busy."""
    return tuple(opcode for opcode, one in OPERATIONS.items() if engine in one.busy)


def largest(opcode: Opcode, field: str) -> int:
    """The largest value of an operand field."""
    width = dict(OPERANDS[opcode])[field]
    return (1 << abs(width) - (width < 0)) - 1


for _opcode, _fields in OPERANDS.items():
    assert sum(abs(width) for _, width in (*HEADER, *_fields)) <= INSTRUCTION_WIDTH, _opcode


def encode(opcode: Opcode, *, waits: int = 0, phase: int = 0, **operands: int) -> int:
    """Encode an instruction as an integer of ``INSTRUCTION_WIDTH`` bits.

    Fields not named are zero.

    Raises
    ------
    ValueError
        If a field is unknown to the opcode or its value does not fit.
    """
    values = {"opcode": int(opcode), "waits": int(waits), "phase": int(phase), **operands}
    word = 0
    offset = 0
    for name, width in (*HEADER, *OPERANDS[opcode]):
        value = int(values.pop(name, 0))
        size = abs(width)
        low, high = (-(1 << size - 1), (1 << size - 1) - 1) if width < 0 else (0, (1 << size) - 1)
        if not low <= value <= high:
            raise ValueError(f"{opcode.name} field {name} must be {low} to {high}, not {value}")
        word |= (value & ((1 << size) - 1)) << offset
        offset += size
    if values:
        raise ValueError(f"{opcode.name} has no field {', '.join(values)}")
    return word


def decode(word: int) -> dict[str, int]:
    """Decode an integer into a dictionary of the fields, ``opcode`` as an ``Opcode``."""
    opcode = Opcode(word & 0xF)
    fields: dict[str, int] = {}
    offset = 0
    for name, width in (*HEADER, *OPERANDS[opcode]):
        size = abs(width)
        value = (word >> offset) & ((1 << size) - 1)
        if width < 0 and value >> size - 1:
            value -= 1 << size
        fields[name] = value
        offset += size
    fields["opcode"] = opcode
    return fields
