# SPDX-License-Identifier: BSD-2-Clause
"""DRAIN: accumulators to memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH, STRIP_WIDTH
from hypercast.rtl.layouts import AccumulatorPort, Issue, WeightPort
from hypercast.rtl.lib.burst_reader import WordSource
from hypercast.rtl.lib.extremes import tile_rows
from hypercast.rtl.lib.rank_reader import RankReader
from hypercast.rtl.limits import DRAIN_CYCLES
from hypercast.rtl.vector.bias_aligner import BiasAligner
from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.drain_writer import DrainWriter, drained_row
from hypercast.rtl.vector.epilogue import Epilogue
from hypercast.rtl.vector.keep_stream import KeepStream
from hypercast.rtl.vector.mask_reader import MaskReader
from hypercast.rtl.vector.pipeline import delay_by
from hypercast.rtl.vector.ports import write_request

__all__ = ["Drain"]


class Drain(wiring.Component):
    """Engine of the DRAIN instruction: one row per cycle, memory permitting.

    A row starts when its dropout decisions, its mask if it needs one, and room for its result are
    there; the first also waits for the bias. Its accumulators are then fetched and pass the
    epilogue, which never stalls.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only while not ``busy``.
    issue : In(Issue), rows : In(ROWS_WIDTH)
        The instruction and its vertices; held from ``start`` until no more ``busy``.
    core : In(dimensions)
        This core's address.
    busy : Out(1)
        High from the cycle after ``start`` until the last write is accepted.
    secondary : Out(WordSource(config))
        The mask that is read, or the ranks of the rows.
    array, aggregation : Out(AccumulatorPort)
        The accumulators.
    weights : Out(WeightPort(config))
        The bias.
    write : Out(stream of writes)
        Results and masks.
    written : Out(1)
        The write accepted is a result.
    magnitude : Out(accumulator_width)
        OR of the magnitudes of the row being requantized; zero if there is none.
    saturations : Out
        How many elements of a row have just saturated.
    starved : Out(1)
        A row waits for memory only.
    """

    #: Rows under way or waiting to be written: covers the pipeline's latency.
    _ROWS = 16
    assert AccumulatorPort.LATENCY + Epilogue.LATENCY == DRAIN_CYCLES

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "issue": In(Issue),
            "rows": In(ROWS_WIDTH),
            "core": In(config.dimensions),
            "busy": Out(1),
            "secondary": Out(WordSource(config)),
            "array": Out(AccumulatorPort(config, config.accumulator_rows)),
            "aggregation": Out(AccumulatorPort(config, config.strip_rows)),
            "weights": Out(WeightPort(config)),
            "write": Out(write_request(config)),
            "written": Out(1),
            "magnitude": Out(config.accumulator_width),
            "saturations": Out(range(config.lanes + 1)),
            "starved": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        operands = self.issue.view(isa.Opcode.DRAIN)
        m.submodules.keep = keep = KeepStream(config)
        m.submodules.mask_reader = mask = MaskReader(config)
        m.submodules.rank_reader = ranks = RankReader(config)
        m.submodules.bias = bias = BiasAligner(config)
        m.submodules.epilogue = epilogue = Epilogue(config)
        m.submodules.output = output = CreditFIFO(drained_row(config), self._ROWS)
        m.submodules.writer = writer = DrainWriter(config)
        connect(m, ranks.o, keep.ranks)
        connect(m, bias.weights, flipped(self.weights))
        connect(m, output.o, writer.i)
        connect(m, writer.write, flipped(self.write))

        # Control: count the rows, then start everybody.
        begin, ranked = Signal(), Signal()
        count = Signal(STRIP_WIDTH)
        m.d.comb += ranked.eq(operands.dropout & operands.ranked)
        with m.FSM():
            with m.State("IDLE"):
                with m.If(self.start):
                    m.d.sync += count.eq(
                        tile_rows(self.rows, operands.row_start, operands.row_limit))
                    m.next = "BEGIN"
            with m.State("BEGIN"):
                m.d.comb += [self.busy.eq(1), begin.eq(1)]
                m.next = "RUN"
            with m.State("RUN"):
                m.d.comb += self.busy.eq(writer.busy | bias.busy)
                with m.If(~self.busy):
                    m.next = "IDLE"

        m.d.comb += [
            keep.start.eq(begin & operands.dropout),
            keep.core.eq(self.core),
            keep.row_start.eq(operands.row_start),
            keep.count.eq(count),
            keep.key.eq(self.issue.dropout_key),
            keep.threshold.eq(operands.dropout_threshold),
            keep.panel.eq(operands.panel),
            keep.ranked.eq(operands.ranked),
            ranks.start.eq(begin & (count != 0) & ranked),
            ranks.rows.eq(count),
            ranks.panels.eq(1),
            ranks.address.eq(operands.ranks),
            mask.start.eq(begin & (count != 0)),
            mask.masked.eq(operands.mask_read),
            mask.count.eq(count),
            mask.address.eq(operands.mask_address),
            bias.start.eq(self.start & operands.bias),
            bias.clear.eq(self.start & ~operands.bias),
            bias.row.eq(operands.bias_weights),
            bias.shift.eq(self.issue.aux_shift),
            writer.start.eq(begin),
            writer.count.eq(count),
            writer.channel.eq(operands.channel),
            writer.masked.eq(operands.mask_write),
            writer.address.eq(operands.address),
            writer.mask_address.eq(operands.mask_address),
            self.written.eq(writer.written),
        ]

        # No instruction reads both a mask and ranks.
        for source, chosen in ((mask.source, ~ranked), (ranks.source, ranked)):
            with m.If(chosen):
                for there, here in ((source.command, self.secondary.command),
                                    (self.secondary.words, source.words)):
                    m.d.comb += [here.valid.eq(there.valid), here.payload.eq(there.payload),
                                 there.ready.eq(here.ready)]

        # A row starts.
        ready, go = Signal(), Signal()
        row = Signal(range(config.strip_rows))
        left = Signal.like(count)
        m.d.comb += [
            ready.eq((left != 0) & (keep.o.valid | ~operands.dropout)
                     & output.credit & ~bias.busy),
            go.eq(ready & mask.o.valid),
            self.starved.eq(ready & ~mask.o.valid),
            keep.o.ready.eq(go),
            mask.o.ready.eq(ready),
            output.take.eq(go),
        ]
        with m.If(go):
            m.d.sync += [row.eq(row + 1), left.eq(left - 1)]
        with m.If(begin):
            m.d.sync += [row.eq(0), left.eq(count)]
        for source, port in ((isa.DrainSource.ARRAY, self.array),
                             (isa.DrainSource.AGGREGATION, self.aggregation)):
            m.d.comb += [
                port.enable.eq(go & (operands.source == source)),
                port.buffer.eq(operands.buffer),
                port.row.eq(row),
            ]

        latency = AccumulatorPort.LATENCY
        kept = (keep.o.payload | (~operands.dropout).replicate(config.lanes)) & mask.o.payload
        m.d.comb += [
            epilogue.row.eq(Mux(operands.source == isa.DrainSource.ARRAY, self.array.data,
                                self.aggregation.data)),
            epilogue.valid.eq(delay_by(m, go, latency)),
            epilogue.keep.eq(delay_by(m, kept, latency)),
            epilogue.bias.eq(bias.bias),
            epilogue.relu.eq(operands.relu),
            epilogue.shift.eq(self.issue.shift),
            epilogue.scale.eq(operands.scale),
            output.push.eq(epilogue.o_valid),
            output.i.word.eq(epilogue.word),
            output.i.mask.eq(epilogue.mask),
            self.magnitude.eq(epilogue.magnitude),
            self.saturations.eq(epilogue.saturations),
        ]
        return m
