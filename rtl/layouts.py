# SPDX-License-Identifier: BSD-2-Clause
"""Payload layouts and signatures that blocks share."""

from amaranth.hdl import signed, unsigned
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.isa import (
    BASE_WIDTH,
    DIGITS_WIDTH,
    EXPONENT_WIDTH,
    KEY_WIDTH,
    ROWS_WIDTH,
    SHIFT_WIDTH,
    STRIP_WIDTH,
)
from hypercast.rtl.limits import BURST
from hypercast.rtl.network.age import FRAME_WIDTH

__all__ = [
    "BEAT_WIDTH", "CONTROL", "OPERANDS", "AccumulatorPort", "BypassPort", "Channel", "FlitKind",
    "HostRequest", "Issue", "Link", "ReadPort", "WeightPort", "WritePort", "accumulator_row",
    "bulk_request", "bulk_width", "flit", "operands", "send_record", "weight_row",
]

#: Bits of a beat of the bulk port.
BEAT_WIDTH = 128


class FlitKind(enum.Enum, shape=2):  # type: ignore[call-arg]  # Amaranth's own keyword
    """``isa.Kind`` with a shape."""

    AGGREGATE = isa.Kind.AGGREGATE
    REDUCE = isa.Kind.REDUCE
    WEIGHT = isa.Kind.WEIGHT


def flit(config: Config) -> data.StructLayout:
    """Layout of a flit.

    ``destinations`` is relative to the core that holds the flit: bit ``k`` is the core at address
    ``self XOR k``. ``source`` is the sender, relative in the same way (0 when injected; at the
    receiver, ``self XOR source`` sent it). ``frame`` is when it was injected, for routers only.
    ``digit`` is the number of a REDUCE flit's digit, 0 the lowest, and zero otherwise.
    """
    return data.StructLayout({
        "destinations": unsigned(config.cores),
        "source": unsigned(config.dimensions),
        "plane": unsigned((config.planes - 1).bit_length()),
        "frame": FRAME_WIDTH,
        "kind": FlitKind,
        "digit": unsigned(DIGITS_WIDTH),
        "index": unsigned(config.index_width),
        "payload": unsigned(config.data_width),
    })


def send_record(config: Config) -> data.StructLayout:
    """Layout of a send list's record, ``config.send_record_width`` bits.

    ``destinations`` is relative to the sender, as a flit's. ``skip`` is what an indexed list's
    record adds to the position; it is zero in other lists.
    """
    return data.StructLayout({
        "destinations": unsigned(config.cores),
        "plane": unsigned(2),
        "skip": unsigned(config.skip_width),
    })


class Link(wiring.Signature):
    """One direction of a link between two cores, and the credits that come back.

    Members
    -------
    valid : Out(1)
        High for one cycle per flit; there is no ready, credits guarantee the room.
    flit : Out(flit(config))
        Valid with ``valid``; destinations and source already relative to the receiving core.
    parity : Out(1)
        Even parity of ``valid`` and ``flit`` one cycle ago, whether a flit was sent or not.
    credit : In(planes)
        Bit ``r`` is high for one cycle when a flit of plane ``r`` has left the receiver's buffer.

    All members come straight from registers.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "valid": Out(1),
            "flit": Out(flit(config)),
            "parity": Out(1),
            "credit": In(config.planes),
        })


def accumulator_row(config: Config) -> data.ArrayLayout:
    """Layout of one accumulator row: ``lanes`` signed accumulators."""
    return data.ArrayLayout(signed(config.accumulator_width), config.lanes)


class AccumulatorPort(wiring.Signature):
    """Reads rows of accumulators, and clears them (seen from the reader).

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    rows : int
        Rows of a buffer.

    Members
    -------
    enable : Out(1)
        High to read ``row`` of ``buffer`` and set it to zero.
    buffer, row : Out
        Valid with ``enable``.
    valid : In(1)
        ``enable`` of two cycles ago.
    data : In(accumulator_row(config))
        The row, valid with ``valid``.
    """

    #: Cycles from ``enable`` to ``valid``.
    LATENCY = 2

    def __init__(self, config: Config, rows: int) -> None:
        super().__init__({
            "enable": Out(1),
            "buffer": Out(1),
            "row": Out(range(rows)),
            "valid": In(1),
            "data": In(accumulator_row(config)),
        })


def weight_row(config: Config) -> data.StructLayout:
    """Layout of what a WEIGHT flit brings: ``payload`` goes to row ``index`` of the weight bank."""
    return data.StructLayout({
        "index": unsigned(config.index_width),
        "payload": unsigned(config.data_width),
    })


class WeightPort(wiring.Signature):
    """Reads rows of the weight bank (seen from the reader).

    Members
    -------
    request : Out(stream of range(weight_rows))
        Row to read.
    data : In(data_width)
        The row, valid in the cycle after the transfer of its request.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "request": Out(stream.Signature(range(config.weight_rows))),
            "data": In(config.data_width),
        })


class ReadPort(wiring.Signature):
    """A client's read access to both memory channels (seen from the client).

    Members
    -------
    request : Out(stream of {channel, address, length})
        A burst of ``length`` (1 to ``BURST``) words from ``address`` of ``channel``.
    data : In(stream of word_width)
        The words, in the order requested. A client requests only what it has room for, so
        that it never makes another client wait: ``ready`` must not depend on other requests.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "request": Out(stream.Signature(data.StructLayout({
                "channel": 1, "address": config.address_width,
                "length": unsigned(BURST.bit_length())}))),
            "data": In(stream.Signature(config.word_width)),
        })


class WritePort(wiring.Signature):
    """A client's write access to both memory channels (seen from the client).

    Members
    -------
    request : Out(stream of {channel, address, data})
        One word per transfer.
    idle : In(1)
        High when every write of any client is visible to later reads.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "request": Out(stream.Signature(data.StructLayout({
                "channel": 1, "address": config.address_width, "data": config.word_width}))),
            "idle": In(1),
        })


class BypassPort(wiring.Signature):
    """What the vector unit stores in a memory of an engine (seen from the vector unit).

    A consumer that has been started while rows are stored may follow: row ``n`` is there when
    ``rows`` is more than ``n``, or ``storing`` has fallen.

    Members
    -------
    storing : Out(1)
        High from the cycle after the instruction's ``start`` until its last row has been stored.
    rows : Out(STRIP_WIDTH)
        How many have; valid with ``storing``.
    valid : Out(1)
        Stores ``word`` at ``address``; there in the next cycle.
    address : Out(BASE_WIDTH)
        The instruction's base for this memory, and one more for every row.
    row : Out(ROWS_WIDTH), last : Out(1)
        The word's local row, and whether it is the instruction's last.
    word : Out(data_width)
        The word.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "storing": Out(1),
            "rows": Out(STRIP_WIDTH),
            "valid": Out(1),
            "address": Out(BASE_WIDTH),
            "row": Out(ROWS_WIDTH),
            "last": Out(1),
            "word": Out(config.data_width),
        })


class Channel(wiring.Signature):
    """One memory channel (seen from the core). A channel moves one word per cycle.

    Members
    -------
    read_request : Out(stream of {address, length})
        Burst of 1 to ``BURST`` words; does not wrap.
    read_data : In(stream of word_width)
        The words, in the order requested, after an unknown latency.
    write : Out(stream of {address, data})
        A write is ordered before every read request accepted after ``idle`` was high.
    idle : In(1)
        High when every accepted write is visible to reads.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "read_request": Out(stream.Signature(data.StructLayout({
                "address": config.address_width, "length": unsigned(BURST.bit_length())}))),
            "read_data": In(stream.Signature(config.word_width)),
            "write": Out(stream.Signature(data.StructLayout({
                "address": config.address_width, "data": config.word_width}))),
            "idle": In(1),
        })


def operands(opcode: isa.Opcode) -> data.StructLayout:
    """Layout of an instruction of ``opcode``: header, operands, padding."""
    fields = {}
    used = 0
    for name, width in (*isa.HEADER, *isa.OPERANDS[opcode]):
        fields[name] = signed(-width) if width < 0 else unsigned(width)
        used += abs(width)
    fields["padding"] = unsigned(isa.INSTRUCTION_WIDTH - used)
    return data.StructLayout(fields)


#: Instruction layout of every opcode; all are ``isa.INSTRUCTION_WIDTH`` bits.
OPERANDS = {opcode: operands(opcode) for opcode in isa.Opcode}

#: Header only, for whoever needs just the opcode.
CONTROL = data.StructLayout({name: unsigned(width) for name, width in isa.HEADER})


class Issue(data.Struct):
    """What the controller broadcasts with an instruction.

    ``shift`` requantizes the result. ``aux_shift`` aligns the other operand: DRAIN, the bias (left
    if positive); UPDATE, the gradient (right, after ``GRADIENT_ZEROS`` zeros are appended); LOSS,
    the logits (right, after 8 zeros are appended). ``dropout_key`` is the instruction's key plus
    the step key.
    """

    instruction: isa.INSTRUCTION_WIDTH
    shift: SHIFT_WIDTH
    aux_shift: signed(EXPONENT_WIDTH)
    dropout_key: KEY_WIDTH

    def view(self, opcode: isa.Opcode) -> data.View:
        """The instruction as ``opcode``'s layout."""
        return OPERANDS[opcode](self.instruction)


class HostRequest(data.Struct):
    """A window access, broadcast to all cores; the selected core answers, or all of them do.

    ``space`` and ``address`` as in ``registers.Space``; ``write`` with ``data``, or a read. With
    ``all_cores`` it is an access to space CORE of every core, whatever ``core`` says.
    """

    core: 6
    all_cores: 1
    space: 3
    address: 32
    write: 1
    data: 32


def bulk_width(config: Config) -> int:
    """Bits that go to a core, or come from it, in a cycle: a word, or a beat if that is less."""
    return min(BEAT_WIDTH, config.word_width)


def bulk_request(config: Config) -> data.StructLayout:
    """Layout of what chips with a bulk port broadcast to all cores, for window and bulk port.

    ``core`` to ``write`` are as in ``HostRequest``. Of the window
    (``bulk`` is 0), ``data`` is its 32 bits again and again. Of the bulk port, a write brings
    ``bulk_width`` bits of a word, the lowest first. A read asks for ``bulk_width`` bits at
    ``address``, or for whole words from there: as many as the low bits of ``data`` say, up to
    ``BURST``, of a memory channel only.
    """
    return data.StructLayout({
        "core": 6, "all_cores": 1, "space": 3, "address": 32, "write": 1, "bulk": 1,
        "data": unsigned(bulk_width(config))})
