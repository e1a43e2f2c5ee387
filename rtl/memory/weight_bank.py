"""A core's copy of the weights."""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.layouts import WeightPort, weight_row

__all__ = ["WeightBank", "host_row"]


def host_row(config):
    """Layout of a row the host writes."""
    return data.StructLayout({
        "row": range(config.weight_rows), "data": unsigned(config.data_width)})


class WeightBank(wiring.Component):
    """``config.weight_rows`` rows of ``config.data_width`` bits; counts the rows to come.

    Reading a row in the cycle in which it is written gives the old contents.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    tile, side : In(WeightPort(config))
        Two reads per cycle, of any rows.
    arrivals : In(stream of weight_row(config))
        Rows from the network; always taken, unless the host writes.
    host_write : In(stream of host_row(config))
        Rows from the host; always taken.
    expect_valid : In(1)
        High for a cycle to add ``expect`` to the rows outstanding; arrivals of that cycle count.
    expect : In(32)
        Rows; valid with ``expect_valid``.
    busy : Out(1)
        High while rows are outstanding, from the cycle after ``expect_valid``.
    error : Out(1)
        High for a cycle after an arrival while none was outstanding. The row is written.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "tile": In(WeightPort(config)),
            "side": In(WeightPort(config)),
            "arrivals": In(stream.Signature(weight_row(config))),
            "host_write": In(stream.Signature(host_row(config))),
            "expect_valid": In(1),
            "expect": In(32),
            "busy": Out(1),
            "error": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.storage = storage = Memory(
            shape=self._config.data_width, depth=self._config.weight_rows, init=[])
        for port in (self.tile, self.side):
            read_port = storage.read_port()
            m.d.comb += [read_port.addr.eq(port.row), port.data.eq(read_port.data)]

        write_port = storage.write_port()
        host, arrivals = self.host_write, self.arrivals
        m.d.comb += [
            host.ready.eq(1),
            arrivals.ready.eq(~host.valid),
            write_port.en.eq(host.valid | arrivals.valid),
            write_port.addr.eq(Mux(host.valid, host.p.row, arrivals.p.index)),
            write_port.data.eq(Mux(host.valid, host.p.data, arrivals.p.payload)),
        ]

        outstanding = Signal(32)
        total = Signal(32)
        arrived = Signal()
        unexpected = Signal()
        m.d.comb += [
            arrived.eq(arrivals.valid & arrivals.ready),
            total.eq(outstanding + Mux(self.expect_valid, self.expect, 0)),
            unexpected.eq(arrived & (total == 0)),
            self.busy.eq(outstanding != 0),
        ]
        m.d.sync += [
            self.error.eq(unexpected),
            outstanding.eq(total - (arrived & ~unexpected)),
        ]
        return m
