# SPDX-License-Identifier: BSD-2-Clause
"""Decides which commands are new, which were carried out before, and which came too early."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.serial.header import Header
from hypercast.rtl.serial.protocol import WINDOW, FrameKind

__all__ = ["Session"]


class Session(wiring.Component):
    """A session's number, and the sequence number of the command it expects.

    Members
    -------
    header : In(Header)
        A frame's first word.
    open : In(1)
        High to begin the session in ``header`` with sequence number 0. Nothing changes if that is
        the present session, or 0.
    advance : In(1)
        High when a new command is carried out: the next one is expected. Not together with
        ``open``.
    session, sequence : Out(16), Out(8)
        The session (0 after reset, which no host uses) and what it expects.
    new : Out(1)
        ``header`` is of the command expected, in this session.
    repeated : Out(1)
        ``header`` is of one of the ``WINDOW`` commands before the one expected. A session that
        has just begun has none of these, and none can come.
    """

    header: In(Header)
    open: In(1)
    advance: In(1)
    session: Out(16)
    sequence: Out(8)
    new: Out(1)
    repeated: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ours, behind = Signal(), Signal(8)
        m.d.comb += [
            ours.eq((self.header.kind == FrameKind.COMMAND) & (self.header.session == self.session)
                    & (self.session != 0)),
            behind.eq(self.sequence - self.header.sequence),
            self.new.eq(ours & (behind == 0)),
            self.repeated.eq(ours & (behind != 0) & (behind <= WINDOW)),
        ]
        with m.If(self.open & (self.header.session != 0)
                  & (self.header.session != self.session)):
            m.d.sync += [self.session.eq(self.header.session), self.sequence.eq(0)]
        with m.If(self.advance):
            m.d.sync += self.sequence.eq(self.sequence + 1)
        return m
