# SPDX-License-Identifier: BSD-2-Clause
"""The array engine: MATMUL and GRADIENT."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob, decode
from hypercast.rtl.array.column_sums import ColumnSums
from hypercast.rtl.array.gradient_sender import GradientSender
from hypercast.rtl.array.operand_feed import OperandFeed
from hypercast.rtl.array.systolic_array import SystolicArray
from hypercast.rtl.array.tile_loader import TileLoader
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import AccumulatorPort, BypassPort, Issue, ReadPort, WeightPort, flit
from hypercast.rtl.lib.accumulator_bank import AccumulatorBank

__all__ = ["ArrayEngine"]


class ArrayEngine(wiring.Component):
    """The systolic array with all that feeds it and all that takes its results.

    MATMUL loads the next tile of weights while the words of the present one stream. GRADIENT sends
    the rows of a finished tile while the words of the next one stream; only the beginning of the
    tile after that waits for them.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1), issue : In(Issue), rows : In(ROWS_WIDTH)
        Begins a MATMUL or a GRADIENT; see ``docs/blocks.md``.
    core : In(dimensions)
        Address of this core.
    busy : Out(1)
        High from the cycle after ``start`` until all sums are in the accumulators or all flits are
        sent.
    left, right, index : Out(ReadPort(config))
        Memory access for the operand's words, for GRADIENT's second operand, and for the index of
        a word-sparse operand.
    bypass_left, bypass_right : In(BypassPort(config))
        What the vector unit stores here of left operands, and of GRADIENT's right ones.
    weights : Out(WeightPort(config))
        Access to the weight bank.
    flits : Out(stream of flit(config))
        REDUCE flits.
    drain : In(AccumulatorPort)
        The accumulators MATMUL adds to.
    words : Out(1)
        A word enters the array.
    starved : Out(1)
        The array waits for memory.
    blocked : Out(1)
        The array waits for a tile to be loaded or for gradient rows to be sent.
    fault : Out(1)
        The ``fault`` of ``OperandFeed``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "issue": In(Issue),
            "rows": In(ROWS_WIDTH),
            "core": In(config.dimensions),
            "busy": Out(1),
            "left": Out(ReadPort(config)),
            "right": Out(ReadPort(config)),
            "index": Out(ReadPort(config)),
            "bypass_left": In(BypassPort(config)),
            "bypass_right": In(BypassPort(config)),
            "weights": Out(WeightPort(config)),
            "flits": Out(stream.Signature(flit(config))),
            "drain": In(AccumulatorPort(config, config.accumulator_rows)),
            "words": Out(1),
            "starved": Out(1),
            "blocked": Out(1),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.array = array = SystolicArray(config)
        m.submodules.feed = feed = OperandFeed(config)
        m.submodules.loader = loader = TileLoader(config)
        m.submodules.column_sums = column_sums = ColumnSums(config)
        m.submodules.sender = sender = GradientSender(config)
        m.submodules.accumulators = accumulators = AccumulatorBank(config)
        wiring.connect(m, wiring.flipped(self.left), feed.left)
        wiring.connect(m, wiring.flipped(self.right), feed.right)
        wiring.connect(m, wiring.flipped(self.index), feed.index)
        wiring.connect(m, wiring.flipped(self.bypass_left), feed.bypass_left)
        wiring.connect(m, wiring.flipped(self.bypass_right), feed.bypass_right)
        wiring.connect(m, wiring.flipped(self.weights), loader.port)
        wiring.connect(m, wiring.flipped(self.flits), sender.flits)
        wiring.connect(m, wiring.flipped(self.drain), accumulators.drain)
        wiring.connect(m, column_sums.o, sender.column_sums)

        job = Signal(ArrayJob)
        begin = Signal()
        m.d.sync += begin.eq(self.start)
        with m.If(self.start):
            m.d.sync += [job[name].eq(value)
                         for name, value in decode(self.issue, self.rows).items()]
        m.d.comb += [
            feed.start.eq(begin),
            feed.job.eq(job),
            feed.core.eq(self.core),
            loader.start.eq(begin & ~job.gradient & (job.rows != 0)),
            loader.weights.eq(job.weights),
            loader.stride.eq(job.weight_stride),
            loader.tiles.eq(job.panels),
            sender.start.eq(begin),
            sender.first_row.eq(job.first_row),
            sender.sums_row.eq(job.sums_row),
            sender.digits.eq(job.digits),
            sender.ones.eq(job.ones),
            sender.core.eq(self.core),
            column_sums.start.eq(begin & job.sums),
        ]

        # Into the array.
        beat = feed.o
        fed = Signal()
        m.d.comb += [
            beat.ready.eq(~beat.p.first | Mux(job.gradient, sender.free, loader.ready)),
            fed.eq(beat.valid & beat.ready),
            array.gradient.eq(job.gradient),
            array.valid.eq(fed & beat.p.word),
            array.first.eq(fed & beat.p.first),
            array.left.as_value().eq(beat.p.left),
            array.right.as_value().eq(beat.p.right),
            array.load.eq(loader.load),
            array.from_side.eq(job.transposed),
            array.weights.as_value().eq(self.weights.data),
            array.closes.eq(fed & beat.p.closes),
            loader.take.eq(array.first & ~job.gradient),
            column_sums.valid.eq(array.valid),
            column_sums.word.as_value().eq(beat.p.right),
            column_sums.close.eq(array.closes),
            sender.first.eq(array.first & job.gradient),
            sender.closes.eq(array.closes),
            sender.sums_valid.eq(array.sums_valid),
            sender.sums.eq(array.sums),
        ]

        # Into the accumulators: rows wait for their sums.
        m.submodules.rows = rows = SyncFIFOBuffered(width=len(beat.p.row), depth=array.latency + 1)
        m.d.comb += [
            rows.w_en.eq(array.valid & ~job.gradient),
            rows.w_data.eq(beat.p.row),
            rows.r_en.eq(array.result_valid),
            accumulators.add_enable.eq(array.result_valid),
            accumulators.add_buffer.eq(job.buffer),
            accumulators.add_row.eq(rows.r_data),
            accumulators.addend.eq(array.result),
        ]

        # The last word's sum is added ``latency`` cycles later and stored in the cycle after that.
        settle = Signal(range(array.latency + 2))
        with m.If(array.valid):
            m.d.sync += settle.eq(array.latency + 1)
        with m.Elif(settle != 0):
            m.d.sync += settle.eq(settle - 1)
        with m.If(self.start):
            m.d.sync += self.busy.eq(1)
        with m.Elif(~begin & ~feed.busy & ~sender.busy & (settle == 0)):
            m.d.sync += self.busy.eq(0)

        m.d.comb += [
            self.fault.eq(feed.fault),
            self.words.eq(array.valid),
            self.starved.eq(feed.busy & ~beat.valid),
            self.blocked.eq((beat.valid & ~beat.ready) | (~feed.busy & sender.busy)),
        ]
        return m
