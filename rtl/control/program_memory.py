# SPDX-License-Identifier: BSD-2-Clause
"""Program memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import INSTRUCTION_WIDTH, INSTRUCTION_WORDS
from hypercast.rtl.layouts import HostRequest
from hypercast.rtl.lib.parity_memory import ParityMemory
from hypercast.rtl.registers import Space

__all__ = ["ProgramMemory"]


class ProgramMemory(wiring.Component):
    """``program_rows`` instructions, served to the window as ``Space.PROGRAM``.

    The window's address is row * 16 + piece, a piece being 32 bits; pieces from 11 on read as
    zero and cannot be written.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    row : In(log2 program_rows)
        Row to read.
    instruction : Out(INSTRUCTION_WIDTH)
        The row, one cycle later; undefined after a window access until the next read.
    fault : Out(1)
        ``instruction`` is not what was written; valid with it.
    request, request_valid : In(HostRequest), In(1)
        Window access, as in ``ControlPort``. ``row`` is not read in the cycle of a request.
    response, response_valid : Out(32), Out(1)
        Answer, two cycles after the request; both are zero otherwise.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "row": In(range(config.program_rows)),
            "instruction": Out(INSTRUCTION_WIDTH),
            "fault": Out(1),
            "request": In(HostRequest),
            "request_valid": In(1),
            "response": Out(32),
            "response_valid": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = ParityMemory(
            32, self._config.program_rows, pieces=INSTRUCTION_WORDS)
        [read], write = memory.reads, memory.write

        piece, row = self.request.address[:4], self.request.address[4:]
        access, answer = Signal(), Signal()
        m.d.comb += [
            access.eq(self.request_valid & (self.request.space == Space.PROGRAM)
                      & (row < self._config.program_rows)),
            read.addr.eq(Mux(access, row, self.row)),
            read.en.eq(1),
            self.instruction.eq(read.data),
            self.fault.eq(read.fault),
            write.addr.eq(row),
            write.data.eq(self.request.data.replicate(INSTRUCTION_WORDS)),
            write.en.eq(Mux(access & self.request.write, 1 << piece, 0)),
        ]
        m.d.sync += [
            answer.eq(access),
            self.response_valid.eq(answer),
            self.response.eq(Mux(answer, read.data.word_select(piece, 32), 0)),
        ]
        return m
