# SPDX-License-Identifier: BSD-2-Clause
"""A core's copy of the weights."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import WeightPort, weight_row
from hypercast.rtl.lib.parity_memory import ParityMemory
from hypercast.rtl.lib.stream_merge import StreamMerge

__all__ = ["WeightBank"]


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
    reads : In(WeightPort(config)), three of them
        One read per cycle; the first port goes first. A request that is alone is always taken.
    arrivals : In(stream of weight_row(config)), ``config.eject`` of them
        Rows from the network.
    host : In(stream of weight_row(config))
        Rows from the host.
    expect_valid : In(1)
        High for a cycle to add ``expect`` to the rows outstanding.
    expect : In(32)
        Rows from the network; valid with ``expect_valid``. One may come in the same cycle.
    busy : Out(1)
        High while rows are outstanding, from the cycle after ``expect_valid``.
    error : Out(1)
        High for a cycle after more rows were written than were outstanding.
    fault : Out(1)
        High for a cycle after a row was read that is not what was written.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "reads": In(WeightPort(config)).array(3),
            "arrivals": In(stream.Signature(weight_row(config))).array(config.eject),
            "host": In(stream.Signature(weight_row(config))),
            "expect_valid": In(1),
            "expect": In(32),
            "busy": Out(1),
            "error": Out(1),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = self._config.eject
        bits = exact_log2(count)

        # One reader at a time.
        reading, row = Signal(), Signal(range(self._config.weight_rows))
        for port in reversed(self.reads):
            with m.If(port.request.valid):
                m.d.comb += row.eq(port.request.payload)
        requests = Cat(port.request.valid for port in self.reads)
        m.d.comb += reading.eq(requests.any())
        chosen, word = Signal(range(count)), Signal(self._config.data_width)
        read_before, wrong = Signal(), Signal()
        m.d.sync += [
            chosen.eq(row[:bits]), read_before.eq(reading), self.fault.eq(read_before & wrong),
        ]
        for index, port in enumerate(self.reads):
            m.d.comb += [
                port.request.ready.eq(~requests[:index].any()),
                port.data.eq(word),
            ]

        sources = [*self.arrivals, self.host]
        grants = []
        for number in range(count):
            m.submodules[f"storage_{number}"] = storage = ParityMemory(
                self._config.data_width, self._config.weight_rows // count)
            m.submodules[f"merge_{number}"] = merge = StreamMerge(
                weight_row(self._config), len(sources))
            [read], write = storage.reads, storage.write
            for source, i in zip(sources, merge.i, strict=True):
                m.d.comb += [
                    i.valid.eq(source.valid & (source.p.index[:bits] == Const(number, bits))),
                    i.payload.eq(source.p),
                ]
            m.d.comb += [
                read.en.eq(reading),
                read.addr.eq(row >> bits),
                merge.o.ready.eq(1),
                write.en.eq(merge.o.valid),
                write.addr.eq(merge.o.p.index >> bits),
                write.data.eq(merge.o.p.payload),
            ]
            with m.If(chosen == number):
                m.d.comb += [word.eq(read.data), wrong.eq(read.fault)]
            grants.append(Cat(i.ready for i in merge.i))
        for index, source in enumerate(sources):
            m.d.comb += source.ready.eq(Cat(granted[index] for granted in grants).any())

        # Rows accepted in this cycle are written in the next, and then counted.
        outstanding, total, arrived = Signal(32), Signal(32), Signal(range(count + 1))
        m.d.comb += [
            total.eq(outstanding + Mux(self.expect_valid, self.expect, 0)),
            self.busy.eq(outstanding != 0),
        ]
        m.d.sync += [
            arrived.eq(sum(arrival.valid & arrival.ready for arrival in self.arrivals)),
            self.error.eq(arrived > total),
            outstanding.eq(Mux(arrived > total, 0, total - arrived)),
        ]
        return m
