# SPDX-License-Identifier: BSD-2-Clause
"""Reads a matrix row by row although it is stored panel by panel."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import LOSS_PANELS_WIDTH, ROWS_WIDTH
from hypercast.rtl.lib.burst_reader import WordSource
from hypercast.rtl.lib.extremes import minimum
from hypercast.rtl.limits import BURST, CLASSES
from hypercast.rtl.vector.panel_addresses import PanelAddresses
from hypercast.rtl.vector.pipeline import bit_length

__all__ = ["PanelReader"]

#: Words of a block: a row of most panels, which has two lanes a panel.
_BLOCK = CLASSES // 2


class PanelReader(wiring.Component):
    """Turns bursts along panels into rows of words, one word per cycle.

    Rows are read in blocks, of each panel one burst: ``BURST`` rows, fewer if they have so many
    panels that they would not fit. A block is read row by row from one half of a buffer while the
    next one arrives in the other half. A word leaves two cycles after the last word it has to
    follow has arrived.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only when the last row has left.
    rows : In(ROWS_WIDTH), channel : In(1), base : In(address_width), stride : In(address_width),
    panels : In(LOSS_PANELS_WIDTH)
        The matrix: from panel to panel it is ``stride`` words, and there are 1 to 256. Valid with
        ``start`` and held until the last row has left.
    source : Out(WordSource(config))
        Brings the words.
    o : Out(stream of word_width)
        Panel 0, 1, ... of the first row, then of the next row, and so on.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "rows": In(ROWS_WIDTH),
            "channel": In(1),
            "base": In(config.address_width),
            "stride": In(config.address_width),
            "panels": In(LOSS_PANELS_WIDTH),
            "source": Out(WordSource(config)),
            "o": Out(stream.Signature(config.word_width)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        most = Signal(range(BURST + 1))  # rows of a block
        block = Signal(range(_BLOCK + 1))  # words of a full block
        halvings = bit_length((self.panels - 1)[(_BLOCK // BURST).bit_length() - 1:])
        m.d.comb += [most.eq(BURST >> halvings), block.eq(self.panels * BURST >> halvings)]

        # A command per panel of a block.
        m.submodules.bursts = bursts = PanelAddresses(self._config)
        command, words = self.source.command, self.source.words
        unread = Signal.like(self.rows)
        m.d.comb += [
            bursts.start.eq(self.start),
            bursts.base.eq(self.base),
            bursts.stride.eq(self.stride),
            bursts.panels.eq(self.panels),
            bursts.step.eq(minimum(unread, most)),
            bursts.advance.eq(command.valid & command.ready),
            command.valid.eq(unread != 0),
            command.p.channel.eq(self.channel),
            command.p.address.eq(bursts.address),
            command.p.count.eq(bursts.step),
        ]
        with m.If(bursts.advance & bursts.last):
            m.d.sync += unread.eq(unread - bursts.step)

        # Words arrive. The last one of a block is kept waiting until the other half is free.
        m.submodules.buffer = buffer = Memory(
            shape=unsigned(self._config.word_width), depth=2 * _BLOCK, init=[])
        write, read = buffer.write_port(), buffer.read_port()
        filling, draining = Signal(), Signal()  # halves
        arrived = Signal(range(_BLOCK))
        complete = arrived == block - 1
        m.d.comb += [
            words.ready.eq(~complete | (filling == draining)),
            write.en.eq(words.valid & words.ready),
            write.addr.eq(Cat(filling, arrived)),
            write.data.eq(words.payload),
        ]
        with m.If(write.en):
            m.d.sync += arrived.eq(arrived + 1)
            with m.If(complete):
                m.d.sync += [arrived.eq(0), filling.eq(~filling)]

        # Rows leave. In the buffer, panels are as far apart as the block has rows.
        m.submodules.order = order = PanelAddresses(self._config)
        left = Signal.like(self.rows)
        height = Signal.like(most)  # rows of this block
        restart = Signal()
        m.d.comb += [
            order.start.eq(self.start | restart),
            order.stride.eq(height),
            order.panels.eq(self.panels),
            order.advance.eq((left != 0) & ((filling != draining) | (order.address < arrived))
                             & (~self.o.valid | self.o.ready)),
            restart.eq(order.advance & (order.address == block - 1)),
            read.en.eq(order.advance),
            read.addr.eq(Cat(draining, order.address)),
            self.o.payload.eq(read.data),
        ]
        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(order.advance):
            m.d.sync += [self.o.valid.eq(1), left.eq(left - order.last)]
        with m.If(restart):
            m.d.sync += [draining.eq(~draining), height.eq(Mux(left <= most, left - 1, most))]

        with m.If(self.start):
            m.d.sync += [
                unread.eq(self.rows),
                left.eq(self.rows),
                height.eq(minimum(self.rows, most)),
                arrived.eq(0),
            ]
        return m
