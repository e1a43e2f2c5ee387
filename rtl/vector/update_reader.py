# SPDX-License-Identifier: BSD-2-Clause
"""What UPDATE works on: optimiser state and summed gradients, element by element."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import AccumulatorPort, accumulator_row
from hypercast.rtl.lib.burst_reader import WordSource
from hypercast.rtl.lib.unpacker import Unpacker
from hypercast.rtl.vector.second_moment import SecondMoment

__all__ = ["UpdateReader", "update_element"]


def update_element(config: Config) -> data.StructLayout:
    """Layout: what belongs to a weight; a second moment only if the chip can do Adam."""
    return data.StructLayout({
        "master": signed(32),
        "momentum": signed(32),
        **({"second_moment": SecondMoment} if config.adam else {}),
        "gradient": signed(config.accumulator_width),
    })


class UpdateReader(wiring.Component):
    """Reads rows of state and of accumulators, and gives out their elements.

    With ``keep`` it reads no state, and what it gives out besides gradients means nothing. With
    ``kept`` it reads no accumulators: a row's gradients lie in memory, before its state.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only when all elements of the last run have been taken.
    rows : In(ROWS_WIDTH), address : In(address_width), row : In
        Rows, the address of the first row's state in channel 1, and its accumulator row; valid
        with ``start``.
    buffer : In(1), adam : In(1)
        Accumulator buffer, and whether second moments are part of the state; held during the run.
    keep, kept : In(1)
        As in the instruction, not both; held during the run.
    source : Out(WordSource(config))
        Brings the state.
    aggregation : Out(AccumulatorPort)
        The gradients.
    o : Out(stream of update_element(config))
        Elements of the rows, lane 0 first.
    starved : Out(1)
        The state of a row whose gradients are there is awaited.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "rows": In(ROWS_WIDTH),
            "address": In(config.address_width),
            "row": In(range(config.strip_rows)),
            "buffer": In(1),
            "adam": In(1),
            "keep": In(1),
            "kept": In(1),
            "source": Out(WordSource(config)),
            "aggregation": Out(AccumulatorPort(config, config.strip_rows)),
            "o": Out(stream.Signature(update_element(config))),
            "starved": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        values = data.ArrayLayout(signed(32), config.lanes)
        m.submodules.unpacker = unpacker = Unpacker(config.word_width, values.size)
        connect(m, flipped(self.source.words), unpacker.i)

        # All rows' state is one run of words: of a row sums that were kept, of which all low parts
        # precede the high ones; then second moments (Adam's), masters, momenta.
        command = self.source.command
        with m.If(command.ready):
            m.d.sync += command.valid.eq(0)
        with m.If(self.start):
            m.d.sync += [
                command.valid.eq((self.rows != 0) & ~self.keep),
                command.p.channel.eq(1),
                command.p.address.eq(self.address),
                command.p.count.eq(self.rows * (2 * config.state_words)
                                   + Mux(self.adam, self.rows * config.state_words, 0)
                                   + Mux(self.kept, self.rows * (2 * config.state_words), 0)),
            ]

        # The earlier ones are set aside until the last one comes.
        second_moments, masters = Signal(values), Signal(values)
        part, last, complete = Signal(3), Signal(), Signal()
        m.d.comb += [
            last.eq(part == 1 + self.adam + Mux(self.kept, 2, 0)),
            complete.eq(unpacker.o.valid & last),
        ]
        with m.If(unpacker.o.valid & ~last):
            m.d.sync += [
                Cat(second_moments, masters).eq(Cat(masters, unpacker.o.payload)),
                part.eq(part + 1),
            ]

        # One row of gradients is fetched ahead.
        port = self.aggregation
        unfetched = Signal.like(self.rows)
        fetching, fetched, taken = Signal(), Signal(), Signal()
        row = Signal.like(self.row)
        gradient = Signal(accumulator_row(config))
        m.d.comb += [
            port.enable.eq((unfetched != 0) & ~fetching & ~fetched),
            port.buffer.eq(self.buffer),
            port.row.eq(row),
        ]
        with m.If(port.enable):
            m.d.sync += [row.eq(row + 1), unfetched.eq(unfetched - 1), fetching.eq(1)]
        with m.If(taken):
            m.d.sync += fetched.eq(0)
        with m.If(port.valid):
            m.d.sync += [gradient.eq(port.data), fetching.eq(0), fetched.eq(1)]
        with m.If(self.start):
            m.d.sync += [row.eq(self.row), unfetched.eq(Mux(self.kept, 0, self.rows))]
        with m.If(unpacker.o.valid & self.kept):
            for value, kept in zip(gradient, values(unpacker.o.payload), strict=True):
                with m.If(part == 0):
                    m.d.sync += value[:32].eq(kept)
                with m.If(part == 1):
                    m.d.sync += [value[32:].eq(kept), fetched.eq(1)]

        # A whole row is taken, and leaves element by element.
        parts = {"master": masters, "momentum": values(unpacker.o.payload),
                 "second_moment": second_moments, "gradient": gradient}
        lane = Signal(range(config.lanes))
        leaving, free = Signal(), Signal()
        m.d.comb += [
            self.o.valid.eq(leaving),
            free.eq(~leaving | (self.o.ready & (lane == config.lanes - 1))),
            taken.eq(free & (complete | self.keep) & fetched),
            unpacker.o.ready.eq(~last | (free & fetched)),
            self.starved.eq(free & fetched & ~complete & ~self.keep),
        ]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += lane.eq(lane + 1)
        with m.If(free):
            m.d.sync += leaving.eq(taken)
        with m.If(taken):
            m.d.sync += part.eq(0)
        for name in update_element(config).members:
            row = Signal.like(parts[name], name=f"row_{name}")
            with m.If(taken):
                m.d.sync += row.eq(parts[name])
            m.d.comb += self.o.p[name].eq(row[lane])
        return m
