# SPDX-License-Identifier: BSD-2-Clause
"""Reads a program's instructions in the order in which they are issued."""

from amaranth.hdl import C, Cat, Module, Signal, Value, signed
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl import layouts
from hypercast.rtl.config import Config
from hypercast.rtl.isa import (
    HEADER_WIDTH,
    INSTRUCTION_WIDTH,
    INSTRUCTION_WORDS,
    LAG_WIDTH,
    LENGTH_WIDTH,
    STRIPS_WIDTH,
    Opcode,
)

__all__ = ["InstructionFetch"]


class _State(enum.Enum):
    """What is under way: rows outside of loops; steps of an instruction in a loop."""

    ROWS = 0
    INSTRUCTION = 1
    STRIDES = 2
    ADD = 3
    READY = 4


class InstructionFetch(wiring.Component):
    """Row after row of the program, and in a loop each instruction of its body for each strip.

    ``rtl.loop`` says what a loop is. Outside of loops, the next instruction is ready 2 cycles after
    one was taken. In a loop it takes ``LOOP_CYCLES``: the strides, times the strip, are added
    32 bits a cycle. That goes on while the instruction before waits to be issued. Each instruction
    that is passed over takes 4 cycles.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for one cycle to begin with row ``entry``, whatever was under way.
    entry : In(log2 program_rows)
        Valid with ``start``.
    take : In(1)
        High for one cycle to take the instruction; only while ``ready``.
    ready : Out(1)
        High while the members below are valid.
    instruction : Out(INSTRUCTION_WIDTH)
        The instruction, of its strip.
    fault : Out(1)
        A row that it comes from is not what was written.
    first : Out(1)
        It is outside of loops, or on a loop's first strip.
    row : Out(log2 program_rows)
        Row of the program that it is in.
    memory_row : Out(log2 program_rows)
        Row to read; stays until what it holds has been used.
    memory_instruction, memory_fault : In(INSTRUCTION_WIDTH), In(1)
        That row and its fault, one cycle later.
    """

    def __init__(self, config: Config) -> None:
        rows = range(config.program_rows)
        super().__init__({
            "start": In(1), "entry": In(rows), "take": In(1),
            "ready": Out(1), "instruction": Out(INSTRUCTION_WIDTH), "fault": Out(1),
            "first": Out(1), "row": Out(rows),
            "memory_row": Out(rows), "memory_instruction": In(INSTRUCTION_WIDTH),
            "memory_fault": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        next_row = Signal.like(self.entry)
        moved = Signal()  # the memory gives what it held for the row before
        state = Signal(_State)
        advance = Signal()
        m.d.comb += self.memory_row.eq(next_row)
        m.d.sync += moved.eq(advance | self.start)
        with m.If(advance):
            m.d.sync += next_row.eq(next_row + 1)

        # The loop: its body's first row, and instructions of the body that are left.
        inside = Signal()
        body = Signal.like(self.entry)
        length = Signal(LENGTH_WIDTH)
        left = Signal(LENGTH_WIDTH)
        strips = Signal(STRIPS_WIDTH)
        turn = Signal(STRIPS_WIDTH + 1)
        last_turn = Signal(STRIPS_WIDTH + 1)
        loop = layouts.OPERANDS[Opcode.LOOP](self.memory_instruction)
        of_turn = Signal(signed(STRIPS_WIDTH + 2))
        m.d.comb += of_turn.eq(turn - self.memory_instruction[:LAG_WIDTH])

        # Its instruction.
        word = Signal(INSTRUCTION_WIDTH)
        fault = Signal()
        strip = Signal(STRIPS_WIDTH)
        first = Signal()
        row = Signal.like(self.entry)
        with m.If(inside):
            m.d.comb += [self.instruction.eq(word), self.fault.eq(fault), self.first.eq(first),
                         self.row.eq(row)]
        with m.Else():
            m.d.comb += [self.instruction.eq(self.memory_instruction),
                         self.fault.eq(self.memory_fault), self.first.eq(1), self.row.eq(next_row)]

        add = Signal()
        done = self._add_strides(m, word, strip, add)
        last = Signal()  # of the body
        m.d.comb += last.eq(left <= 1)

        def finish() -> None:
            """Go on behind an instruction of the body."""
            m.d.sync += state.eq(_State.INSTRUCTION)
            with m.If(last & (turn + 1 < last_turn)):
                m.d.sync += [next_row.eq(body), moved.eq(1), left.eq(length), turn.eq(turn + 1)]
            with m.Else():
                m.d.comb += advance.eq(1)
                m.d.sync += left.eq(left - 1)
                with m.If(last):
                    m.d.sync += [inside.eq(0), state.eq(_State.ROWS)]

        with m.Switch(state):
            with m.Case(_State.ROWS), m.If(~moved):
                begins = (loop.opcode == Opcode.LOOP) & ~self.memory_fault
                m.d.comb += [self.ready.eq(~begins), advance.eq(self.take | begins)]
                with m.If(begins):
                    m.d.sync += [
                        inside.eq(1), length.eq(loop.length), left.eq(loop.length),
                        strips.eq(loop.strips), turn.eq(0), last_turn.eq(loop.strips + loop.lags),
                        body.eq(next_row + 1),
                    ]
                    m.d.sync += state.eq(_State.INSTRUCTION)
            with m.Case(_State.INSTRUCTION), m.If(~moved):
                m.d.comb += advance.eq(1)
                m.d.sync += [word.eq(self.memory_instruction), fault.eq(self.memory_fault),
                             row.eq(next_row)]
                m.d.sync += state.eq(_State.STRIDES)
            with m.Case(_State.STRIDES), m.If(~moved):
                m.d.sync += [fault.eq(fault | self.memory_fault), strip.eq(of_turn),
                             first.eq(of_turn == 0)]
                with m.If(fault | self.memory_fault):
                    m.d.sync += state.eq(_State.READY)
                with m.Elif((of_turn >= 0) & (of_turn < strips)):
                    m.d.sync += state.eq(_State.ADD)
                with m.Else():
                    finish()
            with m.Case(_State.ADD):
                m.d.comb += add.eq(1)
                with m.If(done):
                    m.d.sync += state.eq(_State.READY)
            with m.Case(_State.READY):
                m.d.comb += self.ready.eq(1)
                with m.If(self.take):
                    finish()
        with m.If(self.start):
            m.d.sync += [next_row.eq(self.entry), inside.eq(0), state.eq(_State.ROWS)]
        return m

    def _add_strides(self, m: Module, word: Signal, strip: Signal, add: Signal) -> Value:
        """While ``add`` is high, add the strides that the memory gives, times ``strip``.

        A piece a cycle, the least significant first: fields do not reach beyond their bits, so the
        instruction and its strides are two long numbers. Returns when it is done.
        """
        piece, product = Signal(range(INSTRUCTION_WORDS + 1)), Signal(32 + STRIPS_WIDTH)
        carry = Signal(STRIPS_WIDTH + 1)
        total = Signal(32 + STRIPS_WIDTH + 1)
        strides = Cat(C(0, HEADER_WIDTH), self.memory_instruction[HEADER_WIDTH:])
        m.d.comb += total.eq(product + word[:32] + carry)
        m.d.sync += [product.eq(strides.word_select(piece, 32) * strip), piece.eq(0), carry.eq(0)]
        with m.If(add):
            m.d.sync += piece.eq(piece + 1)
            with m.If(piece != 0):
                m.d.sync += [word.eq(Cat(word[32:], total[:32])), carry.eq(total[32:])]
        return piece == INSTRUCTION_WORDS
