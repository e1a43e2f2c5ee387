"""Reads a matrix from memory panel by panel."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.layouts import ReadPort
from hypercast.rtl.lib.burst_reader import BurstReader

__all__ = ["PanelReader"]


class PanelReader(wiring.Component):
    """Streams the rows of panel 0, 1, ... of a matrix, without gaps between panels.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while words of an earlier start are left.
    rows : In(20)
        Words of a panel, at least 1; constant until the last word is taken.
    panels : In(14)
        How many panels to read; may be 0. Valid with ``start``.
    channel : In(1), stride : In(address_width)
        Memory channel, and words from panel to panel; constant like ``rows``.
    address : In(address_width)
        First word of panel 0. Valid with ``start``.
    o : Out(stream of data_width)
        The words.
    port : Out(ReadPort(config))
        Memory access.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "rows": In(20),
            "panels": In(14),
            "channel": In(1),
            "stride": In(config.address_width),
            "address": In(config.address_width),
            "o": Out(stream.Signature(config.data_width)),
            "port": Out(ReadPort(config)),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.reader = reader = BurstReader(self._config)
        wiring.connect(m, wiring.flipped(self.port), reader.port)
        m.d.comb += [
            self.o.valid.eq(reader.o.valid),
            self.o.payload.eq(reader.o.payload),
            reader.o.ready.eq(self.o.ready),
        ]

        address = Signal.like(self.address)
        panels = Signal.like(self.panels)  # panels not yet handed to the reader
        m.d.comb += [
            reader.command.valid.eq(panels != 0),
            reader.command.p.channel.eq(self.channel),
            reader.command.p.address.eq(address),
            reader.command.p.count.eq(self.rows),
        ]
        with m.If(self.start):
            m.d.sync += [address.eq(self.address), panels.eq(self.panels)]
        with m.Elif(reader.command.valid & reader.command.ready):
            m.d.sync += [address.eq(address + self.stride), panels.eq(panels - 1)]
        return m
