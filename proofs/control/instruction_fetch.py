# SPDX-License-Identifier: BSD-2-Clause
"""The order in which instructions are fetched."""

from amaranth.hdl import Assert, Assume, Module, Mux, Signal, Value, signed

from hypercast.proofs.configuration import small
from hypercast.proofs.free import inputs
from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import constant, past
from hypercast.rtl import layouts
from hypercast.rtl.control.instruction_fetch import InstructionFetch, _State
from hypercast.rtl.isa import LAG_WIDTH, LENGTH_WIDTH, STRIPS_WIDTH, Opcode

__all__ = ["PROOFS"]


def _dut(m: Module) -> tuple[InstructionFetch, Inside]:
    """The block; it is only asked for what is ready."""
    dut = InstructionFetch(small(dimensions=0, program_rows=16))
    inside = Inside(m, dut)
    m.d.comb += Assume(~dut.take | dut.ready)
    return dut, inside


def _rows_bench() -> Bench:
    """Outside of loops, each row is given once, in order, as the memory has it.

    One row is watched, and says the same whenever it is read; no row is a LOOP.
    """
    m = Module()
    dut, inside = _dut(m)
    row, content, other = Signal(4), Signal.like(dut.instruction), Signal.like(dut.instruction)
    following, running = Signal(4), Signal()
    constant(m, row)
    constant(m, content)
    for word in (content, other):
        m.d.comb += Assume(layouts.OPERANDS[Opcode.LOOP](word).opcode != Opcode.LOOP)
    read = past(m, dut.memory_row)
    m.d.comb += dut.memory_instruction.eq(Mux(read == row, content, other))
    with m.If(dut.start):
        m.d.sync += [following.eq(dut.entry), running.eq(1)]
    with m.Elif(dut.take):
        m.d.sync += following.eq(following + 1)
    with m.If(running & dut.ready):
        m.d.comb += [
            Assert(dut.row == following), Assert(dut.first),
            Assert(dut.fault == dut.memory_fault),
            Assert((dut.row != row) | (dut.instruction == content)),
        ]
    moved = inside.signal("moved")
    m.d.comb += [
        Assert(dut.ready == ~moved), Assert(~moved | past(m, dut.start | dut.take)),
        Assert(~running | (dut.memory_row == following)),
        Assert(~running | moved | (read == following)),
        Assert(~inside.signal("inside")), Assert(inside.signal("state") == _State.ROWS),
    ]
    return Bench(m, [row, content, other, *_free(dut)], [
        running & dut.take & (dut.row == row), past(m, dut.start & dut.take)])


def _loop_bench() -> Bench:
    """In a loop, an instruction is given once for each strip, in order, and passed over otherwise.

    One place in the body is watched; its strides always say the same lag, and LOOP the same fields.
    No row changes by itself.
    """
    m = Module()
    dut, inside = _dut(m)
    loop = layouts.OPERANDS[Opcode.LOOP](dut.memory_instruction)
    strips, length, lags = Signal(STRIPS_WIDTH), Signal(LENGTH_WIDTH), Signal(LAG_WIDTH)
    watched, lag = Signal(LENGTH_WIDTH), Signal(LAG_WIDTH)
    for value in (strips, length, lags, watched, lag):
        constant(m, value)
    state, moved, left, turn, strip, body, next_row, row = map(inside.signal, (
        "state", "moved", "left", "turn", "strip", "body", "next_row", "row"))
    looping = inside.signal("inside")
    at_strides = (state == _State.STRIDES) & ~moved
    at_rows = (state == _State.ROWS) & ~moved
    begins = at_rows & (loop.opcode == Opcode.LOOP) & ~dut.start
    here = left == watched
    m.d.comb += [
        dut.memory_fault.eq(0),
        Assume((watched >= 1) & (watched <= length) & (lag <= lags)),
        Assume(~(at_strides & here) | (dut.memory_instruction[:LAG_WIDTH] == lag)),
        Assume(~begins | ((loop.strips == strips) & (loop.length == length)
                          & (loop.lags == lags))),
    ]
    given = Signal(STRIPS_WIDTH + 1)  # times that it was
    with m.If(begins):
        m.d.sync += given.eq(0)
    with m.Elif(dut.take & looping & here):
        m.d.sync += given.eq(given + 1)
    first_row = past(m, body)
    left_loop = past(m, looping & ~dut.start) & ~looping
    place = Signal.like(next_row)  # of the instruction that is under way
    m.d.comb += [
        place.eq(body + 2 * (length - left)),
        Assert(~(dut.take & looping & here) | (
            (strip == given) & (given < strips) & (dut.first == (given == 0))
            & (dut.row == place))),
        Assert(~left_loop | ((given == strips) & (next_row == (first_row + 2 * length)[:4]))),
    ]
    passed = Signal(signed(STRIPS_WIDTH + 3))  # strips that its turn has passed
    m.d.comb += passed.eq(turn + (left < watched) - lag)
    fetched = (state == _State.ADD) | (state == _State.READY)
    with m.If(looping):
        m.d.comb += [
            Assert(state != _State.ROWS),
            Assert(inside.signal("strips") == strips), Assert(inside.signal("length") == length),
            Assert(inside.signal("last_turn") == strips + lags),
            Assert((turn < strips + lags) | (turn == 0)), Assert((left >= 1) & (left <= length)),
            Assert(given == Mux(passed < 0, 0, Mux(passed > strips, strips, passed))),
            Assert(next_row == (place + (state != _State.INSTRUCTION))[:4]),
            Assert((state == _State.INSTRUCTION) | (row == place)),
            Assert(~(fetched & here) | ((turn >= lag) & (strip == turn - lag) & (strip < strips)
                                        & (inside.signal("first") == (strip == 0)))),
        ]
    with m.Else():
        m.d.comb += Assert(state == _State.ROWS)
    free = [value for value in _free(dut) if value is not dut.memory_fault]
    return Bench(m, [strips, length, lags, watched, lag, dut.memory_instruction, *free], [
        begins, at_strides & here & (turn < lag), (state == _State.ADD) & here & (lag == 1),
        left_loop])


def _free(dut: InstructionFetch) -> list[Value]:
    """Inputs that are free but for assumptions."""
    return [value for value in inputs(dut) if value is not dut.memory_instruction]


PROOFS = [
    Proof(block="instruction_fetch", bench=_rows_bench,
          claim="gives each row once, in order, where there is no loop"),
    Proof(block="instruction_fetch", bench=_loop_bench, slow=True,
          claim="gives a body's instruction once for each strip, in order, whatever it lags"),
]
