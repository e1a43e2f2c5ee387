"""A core's copy of the weights."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.layouts import WeightPort, weight_row
from hypercast.rtl.lib.stream_merge import StreamMerge

__all__ = ["WeightBank", "host_row"]


def host_row(config):
    """Layout of a row the host writes."""
    return data.StructLayout({
        "row": range(config.weight_rows), "data": unsigned(config.data_width)})


class WeightBank(wiring.Component):
    """``config.weight_rows`` rows of ``config.data_width`` bits; counts the rows to come.

    Row ``n`` lies in memory ``n mod eject``. As many rows can arrive in a cycle as lie in different
    memories; each is written a cycle later. Reading a row in the cycle in which it is written gives
    the old contents.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    tile, side : In(WeightPort(config))
        Two reads per cycle, of any rows.
    arrivals : In(stream of weight_row(config)), ``config.eject`` of them
        Rows from the network; none is written in a cycle in which the host writes.
    host_write : In(stream of host_row(config))
        Rows from the host; always taken.
    expect_valid : In(1)
        High for a cycle to add ``expect`` to the rows outstanding; what is written then counts.
    expect : In(32)
        Rows; valid with ``expect_valid``.
    busy : Out(1)
        High while rows are outstanding, from the cycle after ``expect_valid``.
    error : Out(1)
        High for a cycle after more rows were written than were outstanding.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "tile": In(WeightPort(config)),
            "side": In(WeightPort(config)),
            "arrivals": In(stream.Signature(weight_row(config))).array(config.eject),
            "host_write": In(stream.Signature(host_row(config))),
            "expect_valid": In(1),
            "expect": In(32),
            "busy": Out(1),
            "error": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        count, host = self._config.eject, self.host_write
        bits = exact_log2(count)
        m.d.comb += host.ready.eq(1)
        ports = (self.tile, self.side)
        chosen = [Signal(range(count), name=f"chosen_{index}") for index in range(len(ports))]
        for port, memory in zip(ports, chosen, strict=True):
            m.d.sync += memory.eq(port.row[:bits])

        written, ready = [], []
        for number in range(count):
            m.submodules[f"storage_{number}"] = storage = Memory(
                shape=self._config.data_width, depth=self._config.weight_rows // count, init=[])
            m.submodules[f"merge_{number}"] = merge = StreamMerge(weight_row(self._config), count)
            for port, memory in zip(ports, chosen, strict=True):
                read = storage.read_port()
                m.d.comb += read.addr.eq(port.row >> bits)
                with m.If(memory == number):
                    m.d.comb += port.data.eq(read.data)
            for arrival, i in zip(self.arrivals, merge.i, strict=True):
                m.d.comb += [
                    i.valid.eq(arrival.valid & (arrival.p.index[:bits] == Const(number, bits))),
                    i.payload.eq(arrival.p),
                ]
            write = storage.write_port()
            m.d.comb += [
                merge.o.ready.eq(~host.valid),
                write.en.eq(Mux(host.valid, host.p.row[:bits] == Const(number, bits),
                                merge.o.valid)),
                write.addr.eq(Mux(host.valid, host.p.row, merge.o.p.index) >> bits),
                write.data.eq(Mux(host.valid, host.p.data, merge.o.p.payload)),
            ]
            written.append(merge.o.valid & merge.o.ready)
            ready.append(Cat(i.ready for i in merge.i))
        for index, arrival in enumerate(self.arrivals):
            m.d.comb += arrival.ready.eq(Cat(grants[index] for grants in ready).any())

        outstanding, total, arrived = Signal(32), Signal(32), Signal(range(count + 1))
        m.d.comb += [
            arrived.eq(sum(written)),
            total.eq(outstanding + Mux(self.expect_valid, self.expect, 0)),
            self.busy.eq(outstanding != 0),
        ]
        m.d.sync += [
            self.error.eq(arrived > total),
            outstanding.eq(Mux(arrived > total, 0, total - arrived)),
        ]
        return m
