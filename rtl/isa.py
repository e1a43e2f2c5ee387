# SPDX-License-Identifier: BSD-2-Clause
"""The instruction set: opcodes, operand fields and their encoding.

This module imports no Amaranth; the hardware derives its layouts from the same tables. An
instruction is 352 bits: the header, then the operands of its opcode, least significant first, then
zeros. Addresses are word addresses that already point at the first row processed.
"""

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from hypercast.errors import InputError
from hypercast.rtl.access import Access, Mode, Store

__all__ = [
    "ADDRESS_WIDTH", "BASE_WIDTH", "CLASSES_WIDTH", "DIGITS_WIDTH", "EPSILON_EXPONENT_WIDTH",
    "EPSILON_WIDTH", "EXPONENT_WIDTH", "FACTOR_ONE", "FACTOR_WIDTH", "GRADIENT_ZEROS", "HEADER",
    "HEADER_WIDTH", "INSTRUCTION_WIDTH", "INSTRUCTION_WORDS", "KEY_MASK", "KEY_WIDTH", "LAG_WIDTH",
    "LENGTH_WIDTH", "LONGEST_SHIFT", "LOSS_EXPONENT", "LOSS_PANELS_WIDTH", "LOSS_SHIFT",
    "LOSS_WEIGHT_ONE", "MASTER_EXPONENT", "MAXIMUM_EXPONENT", "MINIMUM_EXPONENT", "OPCODE_MASK",
    "OPERANDS", "OPERATIONS", "PANELS_WIDTH", "PHASE_WIDTH", "RANK_WIDTH", "RECORD_WIDTH",
    "ROWS_WIDTH", "ROW_NUMBER_WIDTH", "SHIFT_WIDTH", "STEP_KEY_INCREMENT", "STRIPS_WIDTH",
    "STRIP_WIDTH", "TENSORS", "TENSOR_WIDTH", "THRESHOLD_WIDTH", "VERTICES_WIDTH", "WAITS_WIDTH",
    "Bypass", "DrainSource", "Engine", "Kind", "Opcode", "OperandSource", "Operation", "Split",
    "decode", "encode", "engine_of", "largest", "opcodes_of",
]

INSTRUCTION_WIDTH = 352
INSTRUCTION_WORDS = INSTRUCTION_WIDTH // 32
#: Bits of a number of rows, of a core's local rows and of reduction rows.
ROWS_WIDTH = 23
#: Bits of the address of a word in a memory channel.
ADDRESS_WIDTH = 24
#: Bits of a number of panels.
PANELS_WIDTH = 14
#: Bits of a place in on-chip memory: rows of the weight bank and of the operand buffer.
BASE_WIDTH = 16
#: Bits of a number of rows that accumulators hold: of a strip.
STRIP_WIDTH = 15
#: Bits of a loop's number of strips and of its instructions, and of what an instruction lags by.
STRIPS_WIDTH, LENGTH_WIDTH, LAG_WIDTH = 12, 13, 3
#: Bits of a number of panels of logits, and of a number of classes.
LOSS_PANELS_WIDTH, CLASSES_WIDTH = 9, 10
#: Bits of the number of an entry of the row table.
VERTICES_WIDTH = 10
#: Bits of a number in the exponent file, and of an exponent, which has a sign.
TENSOR_WIDTH, EXPONENT_WIDTH = 10, 8
#: Bits of a factor's mantissa: of the optimiser, of means; and a factor of one.
FACTOR_WIDTH = 16
FACTOR_ONE = 1 << FACTOR_WIDTH
#: Bits of a right shift, and the longest one.
SHIFT_WIDTH = 6
LONGEST_SHIFT = (1 << SHIFT_WIDTH) - 1
#: Bits of Adam's epsilon: its mantissa, which a root's is as wide as, and its exponent.
EPSILON_WIDTH, EPSILON_EXPONENT_WIDTH = 18, 5
#: Bits of what dropout's hash is compared with, and of its key.
THRESHOLD_WIDTH, KEY_WIDTH = 16, 32
KEY_MASK = (1 << KEY_WIDTH) - 1
#: Bits of a digit's number, and of a number of digits.
DIGITS_WIDTH = 3
#: Bits of a record of labels: a vertex's label and set, its weight, or some bits of its labels.
RECORD_WIDTH = 16
#: Bits of a vertex' rank.
RANK_WIDTH = 32
#: Bits of a row's number in a word-sparse matrix, which is stored plus one.
ROW_NUMBER_WIDTH = 16

#: Fixed exponent of the 32-bit master weights: range +-32, resolution 2**-26.
MASTER_EXPONENT = -26
#: No tensor's exponent is chosen below this; it keeps alignment shifts inside the accumulators.
MINIMUM_EXPONENT = -28
#: Exponent of LOSS's gradient before it is requantized.
LOSS_EXPONENT = -33
#: LOSS shifts logits by this minus their exponent.
LOSS_SHIFT = 10
#: A vertex's loss weight of one: weights have 15 fraction bits.
LOSS_WEIGHT_ONE = 1 << RECORD_WIDTH - 1
#: Zeros that UPDATE appends to a gradient before it shifts it.
GRADIENT_ZEROS = 16
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
    LOOP = 7       #: Controller: the rows after it, once for each strip of rows (``rtl.loop``).


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


#: Bits of a set of engines, and of the number of a phase's performance counter.
WAITS_WIDTH, PHASE_WIDTH = 8, 4
#: Field name and width of every instruction's first bits. ``waits``: engines that must be idle in
#: all cores. ``phase``: performance counter that the cycles from here on are added to.
HEADER = (("opcode", 4), ("waits", WAITS_WIDTH), ("phase", PHASE_WIDTH))
HEADER_WIDTH = sum(width for _, width in HEADER)
#: Bits of an instruction that say its opcode.
OPCODE_MASK = (1 << HEADER[0][1]) - 1

_ROWS = (("vertices", VERTICES_WIDTH), ("row_start", ROWS_WIDTH), ("row_limit", STRIP_WIDTH))
_DROPOUT = (("dropout", 1), ("dropout_threshold", THRESHOLD_WIDTH),
            ("dropout_key", KEY_WIDTH), ("ranked", 1), ("ranks", ADDRESS_WIDTH))
_OPERAND = (("operand", 2), ("operand_base", BASE_WIDTH), ("operand_stride", BASE_WIDTH))
_BYPASS = (("bypass", 3), ("left_base", BASE_WIDTH), ("right_base", BASE_WIDTH),
           ("send_base", BASE_WIDTH))
_BYPASSED = (("bypassed", 1), ("bypass_base", BASE_WIDTH), ("chained", 1))
#: A buffer of accumulators. It is the last operand of whatever a loop may hold: where strips take
#: turns with the buffers, what a sum carries beyond it is lost.
_BUFFER = (("buffer", 1),)
#: Operands that the controller chooses exponents by, of every instruction of the vector unit.
TENSORS = (("a", TENSOR_WIDTH), ("b", TENSOR_WIDTH), ("o", TENSOR_WIDTH),
           ("peak_of", TENSOR_WIDTH), ("open", 1), ("headroom", -3))


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What hardware, compiler and tools know of an opcode.

    Parameters
    ----------
    operands : tuple of (str, int)
        Operand fields and their widths; a negative width marks a signed field.
        ``docs/instructions.md`` explains each.
    engine : Engine or None
        The engine that carries the opcode out; None of HALT and LOOP, which the controller does.
    arrivals : Engine or None
        The engine that goes on working after ``engine`` has finished, if there is one.
    accesses : tuple of Access
        All places that the opcode uses. Accumulators are of the buffer ``buffer``.
    subjects : tuple of Access
        What people would name as its subject: the first access that applies.
    """

    operands: tuple[tuple[str, int], ...]
    engine: Engine | None = None
    arrivals: Engine | None = None
    accesses: tuple[Access, ...] = ()
    subjects: tuple[Access, ...] = ()

    @property
    def busy(self) -> tuple[Engine, ...]:
        """The engines that it makes busy."""
        return tuple(engine for engine in (self.engine, self.arrivals) if engine is not None)

    @cached_property
    def adds(self) -> bool:
        """Whether the operation adds to accumulators; all others that use any take them out."""
        return any(access.mode == Mode.ADD for access in self.accesses)

    @cached_property
    def reduces(self) -> bool:
        """Whether sums arrive at accumulators after the operation's engine has finished."""
        return self.adds and self.arrivals is not None

    def uses(self, fields: Mapping[str, int]) -> tuple[Access, ...]:
        """The places that a decoded instruction uses."""
        return tuple(access for access in self.accesses if access.applies(fields))

    def subject(self, fields: Mapping[str, int]) -> Access:
        """What a decoded instruction works on."""
        return next(access for access in self.subjects if access.applies(fields))


_ON, _OFF = (1,), (0,)


def _left(channel: str, *, opposite: bool = False) -> tuple[Access, ...]:
    """Places of the left operand of MATMUL or GRADIENT; with ``ones``, GRADIENT has none."""
    when = {"ones": _OFF} if opposite else {}
    buffer, fill = (OperandSource.BUFFER,), (OperandSource.FILL,)
    memory = {"operand": [source for source in range(4) if source not in buffer]}
    return (
        Access(mode=Mode.READ, store=Store.INDEX, field="address",
               when={**when, **memory, "sparse": _ON}),
        Access(mode=Mode.READ, store=Store.MATRIX, field="address", channel=channel,
               opposite=opposite, panels=True, when={**when, **memory, "sparse": _OFF}),
        Access(mode=Mode.WRITE, store=Store.OPERANDS, field="operand_base",
               when={**when, "operand": fill}),
        Access(mode=Mode.READ, store=Store.OPERANDS, field="operand_base",
               when={**when, "operand": buffer}))


def _bypasses(when: Mapping[str, Collection[int]]) -> tuple[Access, ...]:
    """Places besides memory that DRAIN or LOSS writes."""
    return tuple(
        Access(mode=Mode.WRITE, store=store, field=field,
               when={**when, "bypass": [bits for bits in range(8) if bits >> target & 1]})
        for target, store, field in (
            (Bypass.LEFT, Store.OPERANDS, "left_base"), (Bypass.RIGHT, Store.RIGHT, "right_base"),
            (Bypass.SEND, Store.SEND, "send_base")))


_EDGES = Access(mode=Mode.READ, store=Store.EDGE_SET, field="edge_set")
_SENT = Access(mode=Mode.READ, store=Store.MATRIX, field="address", channel="channel")
_FACTORS = tuple(Access(mode=Mode.READ, store=Store.EXPONENT, field=field) for field in "ab")
_RESULTS = (
    Access(mode=Mode.CHANGE, store=Store.EXPONENT, field="o"),
    Access(mode=Mode.READ, store=Store.EXPONENT, field="peak_of", when={"open": _ON}))
_WEIGHTS = Access(mode=Mode.READ, store=Store.WEIGHTS, field="weights")
_RIGHT = Access(mode=Mode.READ, store=Store.MATRIX, field="gradient_address",
                channel="gradient_channel")
_TRAIN = {"train": _ON}
_RANKS = Access(mode=Mode.READ, store=Store.RANKS, field="ranks",
                when={"dropout": _ON, "ranked": _ON})

#: What an opcode is. All else about opcodes follows from this.
OPERATIONS = {
    Opcode.HALT: Operation(operands=(("step", 1),)),
    Opcode.AGGREGATE: Operation(
        engine=Engine.AGGREGATE,
        operands=(
            ("vertices", VERTICES_WIDTH), ("channel", 1), ("address", ADDRESS_WIDTH),
            ("send_list", ADDRESS_WIDTH), ("edge_set", ADDRESS_WIDTH), ("prefetch", 1),
            *_BYPASSED, ("indexed", 1), *_BUFFER),
        accesses=(
            _EDGES,
            Access(mode=Mode.READ, store=Store.SEND_LIST, field="send_list",
                   when={"prefetch": _OFF}),
            replace(_SENT, when={"prefetch": _OFF, "bypassed": _OFF, "indexed": _OFF}),
            replace(_SENT, when={"prefetch": _OFF, "bypassed": _OFF, "indexed": _ON},
                    anywhere=True),
            Access(mode=Mode.READ, store=Store.SEND, field="bypass_base",
                   when={"prefetch": _OFF, "bypassed": _ON}),
            Access(mode=Mode.ADD, store=Store.AGGREGATION, field="", when={"prefetch": _OFF})),
        subjects=(replace(_EDGES, when={"prefetch": _ON}), _SENT)),
    Opcode.MATMUL: Operation(
        engine=Engine.ARRAY,
        operands=(
            *_ROWS, ("channel", 1), ("sparse", 1), ("address", ADDRESS_WIDTH),
            ("stride", ADDRESS_WIDTH), ("panels", PANELS_WIDTH), ("weights", BASE_WIDTH),
            ("weight_stride", BASE_WIDTH), ("transposed", 1), *_DROPOUT, ("panel", PANELS_WIDTH),
            *_OPERAND, ("chained", 1), *_BUFFER),
        accesses=(
            *_left("channel"), _RANKS, _WEIGHTS,
            Access(mode=Mode.ADD, store=Store.ARRAY, field="")),
        subjects=(_WEIGHTS,)),
    Opcode.GRADIENT: Operation(
        engine=Engine.ARRAY, arrivals=Engine.REDUCTION,
        operands=(
            *_ROWS, ("sparse", 1), ("address", ADDRESS_WIDTH),
            ("stride", ADDRESS_WIDTH), ("panels", PANELS_WIDTH), ("ones", 1),
            ("gradient_channel", 1), ("gradient_address", ADDRESS_WIDTH),
            ("first_row", ROWS_WIDTH), ("digits", DIGITS_WIDTH), ("sums", 1),
            ("sums_row", ROWS_WIDTH), *_DROPOUT, ("panel", PANELS_WIDTH), *_OPERAND, *_BYPASSED,
            *_BUFFER),
        accesses=(
            Access(mode=Mode.ADD, store=Store.AGGREGATION, field="first_row"),
            Access(mode=Mode.ADD, store=Store.AGGREGATION, field="sums_row", when={"sums": _ON}),
            # Of ones, each panel has a right operand of its own.
            replace(_RIGHT, when={"bypassed": _OFF, "ones": _OFF}),
            replace(_RIGHT, when={"bypassed": _OFF, "ones": _ON}, panels=True),
            Access(mode=Mode.READ, store=Store.RIGHT, field="bypass_base",
                   when={"bypassed": _ON}),
            *_left("gradient_channel", opposite=True), _RANKS),
        subjects=(_RIGHT,)),
    Opcode.DRAIN: Operation(
        engine=Engine.VECTOR,
        operands=(
            *_ROWS, ("source", 1), ("channel", 1), ("address", ADDRESS_WIDTH),
            *TENSORS, ("exponent_bias", -6), ("scale", FACTOR_WIDTH), ("bias", 1),
            ("bias_tensor", TENSOR_WIDTH), ("bias_weights", BASE_WIDTH), ("relu", 1),
            ("mask_write", 1), ("mask_read", 1), ("mask_address", ADDRESS_WIDTH), *_DROPOUT,
            ("panel", PANELS_WIDTH), *_BYPASS, *_BUFFER),
        accesses=(
            Access(mode=Mode.TAKE, store=Store.ARRAY, field="",
                   when={"source": (DrainSource.ARRAY,)}),
            Access(mode=Mode.TAKE, store=Store.AGGREGATION, field="",
                   when={"source": (DrainSource.AGGREGATION,)}),
            Access(mode=Mode.WRITE, store=Store.MATRIX, field="address", channel="channel"),
            Access(mode=Mode.READ, store=Store.MASK, field="mask_address",
                   when={"mask_read": _ON}),
            Access(mode=Mode.WRITE, store=Store.MASK, field="mask_address",
                   when={"mask_write": _ON}),
            _RANKS,
            Access(mode=Mode.READ, store=Store.WEIGHTS, field="bias_weights", when={"bias": _ON}),
            Access(mode=Mode.READ, store=Store.EXPONENT, field="bias_tensor", when={"bias": _ON}),
            *_bypasses({}), *_FACTORS, *_RESULTS),
        subjects=_RESULTS),
    Opcode.LOSS: Operation(
        engine=Engine.VECTOR,
        operands=(
            ("vertices", VERTICES_WIDTH), ("channel", 1), ("address", ADDRESS_WIDTH),
            ("stride", ADDRESS_WIDTH), ("panels", LOSS_PANELS_WIDTH), ("classes", CLASSES_WIDTH),
            ("info", ADDRESS_WIDTH), ("destination", ADDRESS_WIDTH), *TENSORS, ("train", 1),
            ("sigmoid", 1), ("weighted", 1), *_BYPASS),
        accesses=(
            Access(mode=Mode.READ, store=Store.MATRIX, field="address", channel="channel",
                   panels=True),
            Access(mode=Mode.READ, store=Store.LABELS, field="info"),
            Access(mode=Mode.WRITE, store=Store.MATRIX, field="destination", panels=True,
                   when=_TRAIN),
            *_bypasses(_TRAIN), _FACTORS[0], *_RESULTS),
        subjects=_RESULTS),
    Opcode.UPDATE: Operation(
        engine=Engine.VECTOR, arrivals=Engine.WEIGHTS,
        operands=(
            ("buffer", 1), ("first_row", ROWS_WIDTH), ("rows", ROWS_WIDTH),
            ("weights", BASE_WIDTH), ("state", ADDRESS_WIDTH), *TENSORS,
            ("momentum_exponent", -EXPONENT_WIDTH), ("momentum", FACTOR_WIDTH),
            ("decay", FACTOR_WIDTH), ("decay_shift", SHIFT_WIDTH), ("rate", FACTOR_WIDTH),
            ("rate_shift", SHIFT_WIDTH), ("adam", 1), ("second_decay", FACTOR_WIDTH),
            ("second_decay_shift", SHIFT_WIDTH), ("epsilon", EPSILON_WIDTH),
            ("epsilon_exponent", EPSILON_EXPONENT_WIDTH), ("keep", 1), ("kept", 1)),
        accesses=(
            Access(mode=Mode.TAKE, store=Store.AGGREGATION, field="first_row",
                   when={"kept": _OFF}),
            replace(_WEIGHTS, mode=Mode.WRITE, when={"keep": _OFF}),
            Access(mode=Mode.CHANGE, store=Store.STATE, field="state", when={"keep": _OFF}),
            Access(mode=Mode.WRITE, store=Store.STATE, field="state", when={"keep": _ON}),
            *_FACTORS, *_RESULTS),
        subjects=_RESULTS),
    Opcode.LOOP: Operation(
        operands=(("strips", STRIPS_WIDTH), ("length", LENGTH_WIDTH), ("lags", LAG_WIDTH))),
}
#: Operand fields of each opcode, as ``Operation.operands``.
OPERANDS = {opcode: operation.operands for opcode, operation in OPERATIONS.items()}


def engine_of(opcode: Opcode) -> Engine:
    """The engine that carries out an opcode other than HALT and LOOP."""
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
    InputError
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
            raise InputError(f"{opcode.name} field {name} must be {low} to {high}, not {value}")
        word |= (value & ((1 << size) - 1)) << offset
        offset += size
    if values:
        raise InputError(f"{opcode.name} has no field {', '.join(values)}")
    return word


def decode(word: int) -> dict[str, int]:
    """Decode an integer into a dictionary of the fields, ``opcode`` as an ``Opcode``."""
    opcode = Opcode(word & OPCODE_MASK)
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
