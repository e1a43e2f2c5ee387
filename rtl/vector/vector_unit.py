# SPDX-License-Identifier: BSD-2-Clause
"""The vector unit: DRAIN, LOSS and UPDATE, and what they share."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import (
    CONTROL,
    AccumulatorPort,
    BypassPort,
    Issue,
    ReadPort,
    WeightPort,
    WritePort,
    flit,
)
from hypercast.rtl.lib.burst_reader import BurstReader
from hypercast.rtl.limits import PEAK_WIDTH
from hypercast.rtl.vector.bypass_writer import BypassWriter
from hypercast.rtl.vector.drain import Drain
from hypercast.rtl.vector.loss import Loss
from hypercast.rtl.vector.peak_tracker import PeakTracker
from hypercast.rtl.vector.update import Update

__all__ = ["VectorUnit"]


def _forward(m: Module, source: stream.Interface, sink: stream.Interface) -> None:
    """Connect stream ``source`` to ``sink`` under the conditions in force."""
    m.d.comb += [
        sink.valid.eq(source.valid),
        sink.payload.eq(source.payload),
        source.ready.eq(sink.ready),
    ]


class VectorUnit(wiring.Component):
    """Runs one instruction at a time on the engine that its opcode names.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1), issue : In(Issue), rows : In(ROWS_WIDTH)
        Begins an instruction; valid together, only while not ``busy``.
    core : In(dimensions)
        This core's address.
    busy : Out(1)
        High from the cycle after ``start`` until the instruction is done and its writes are
        visible to reads.
    finishing : Out(1)
        High while ``busy`` only waits for its writes.
    peak : Out(PEAK_WIDTH)
        Bit length of the instruction's largest magnitude, 0 if that is zero; valid while not
        ``busy``, until the next ``start``.
    primary : Out(ReadPort(config))
        Logits, optimiser state.
    secondary : Out(ReadPort(config))
        Masks, labels.
    write : Out(WritePort(config))
        All results.
    bypass : Out(BypassPort(config)), one for each of ``isa.Bypass``
        Results for memories of other engines.
    array, aggregation : Out(AccumulatorPort)
        Accumulators of the array, and of the aggregators.
    weights : Out(WeightPort(config))
        Biases; used while ``busy``.
    flits : Out(stream of flit(config))
        New rows of weights.
    clear : In(1)
        Zeroes ``losses``, ``hits`` and ``misses``.
    losses : Out(64), hits : Out(32), misses : Out(32), three each
        Sums of training, validation and test vertices, see ``Metrics``.
    words, starved, blocked : Out(1), saturations : Out
        Increments of the counters ``vector_words`` (words written), ``vector_starved``,
        ``vector_blocked`` and ``saturations``.
    fault : Out(1)
        High for a cycle after an entry of a table was read that had changed.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "issue": In(Issue),
            "rows": In(ROWS_WIDTH),
            "core": In(config.dimensions),
            "busy": Out(1),
            "finishing": Out(1),
            "peak": Out(PEAK_WIDTH),
            "primary": Out(ReadPort(config)),
            "secondary": Out(ReadPort(config)),
            "write": Out(WritePort(config)),
            "bypass": Out(BypassPort(config)).array(len(isa.Bypass)),
            "array": Out(AccumulatorPort(config, config.accumulator_rows)),
            "aggregation": Out(AccumulatorPort(config, config.strip_rows)),
            "weights": Out(WeightPort(config)),
            "flits": Out(stream.Signature(flit(config))),
            "clear": In(1),
            "losses": Out(64).array(3),
            "hits": Out(32).array(3),
            "misses": Out(32).array(3),
            "words": Out(1),
            "starved": Out(1),
            "blocked": Out(1),
            "saturations": Out(range(max(config.lanes, 3) + 1)),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.drain = drain = Drain(config)
        m.submodules.loss = loss = Loss(config)
        m.submodules.update = update = Update(config)
        m.submodules.primary_reader = primary = BurstReader(config)
        m.submodules.secondary_reader = secondary = BurstReader(config)
        m.submodules.bypass = bypass = BypassWriter(config)
        m.submodules.peak_tracker = tracker = PeakTracker(config.accumulator_width)

        # The instruction is held while its engine works.
        issue, rows, start = Signal(Issue), Signal(ROWS_WIDTH), Signal()
        m.d.sync += start.eq(self.start)
        with m.If(self.start):
            m.d.sync += [issue.eq(self.issue), rows.eq(self.rows), self.busy.eq(1)]
        m.d.comb += [engine.issue.eq(issue) for engine in (drain, loss, update)]
        working = Signal()
        m.d.comb += working.eq(start | drain.busy | loss.busy | update.busy)
        m.d.comb += self.finishing.eq(self.busy & ~working)
        with m.If(self.finishing & self.write.idle):
            m.d.sync += self.busy.eq(0)

        # Wires that no one shares.
        connect(m, primary.port, flipped(self.primary))
        connect(m, secondary.port, flipped(self.secondary))
        connect(m, drain.array, flipped(self.array))
        connect(m, drain.weights, flipped(self.weights))
        connect(m, update.flits, flipped(self.flits))
        for target in isa.Bypass:
            connect(m, bypass.bypass[target], flipped(self.bypass[target]))
        m.d.comb += [
            bypass.start.eq(self.start),
            bypass.issue.eq(self.issue),
            bypass.rows.eq(self.rows),
            bypass.written.eq(drain.written | loss.written),
            bypass.word.eq(self.write.request.p.data),
            drain.core.eq(self.core),
            update.core.eq(self.core),
            drain.rows.eq(rows),
            loss.rows.eq(rows),
            loss.clear.eq(self.clear),
            self.fault.eq(loss.fault),
        ]
        for index in range(3):
            m.d.comb += [
                self.losses[index].eq(loss.losses[index]),
                self.hits[index].eq(loss.hits[index]),
                self.misses[index].eq(loss.misses[index]),
            ]

        # Wires that belong to the engine at work.
        def lend(engine: Drain | Loss | Update) -> None:
            m.d.comb += engine.start.eq(start)
            _forward(m, engine.write, self.write.request)

        def lend_primary(engine: Loss | Update) -> None:
            _forward(m, engine.primary.command, primary.command)
            _forward(m, primary.o, engine.primary.words)

        def lend_secondary(engine: Drain | Loss) -> None:
            _forward(m, engine.secondary.command, secondary.command)
            _forward(m, secondary.o, engine.secondary.words)

        def lend_aggregation(engine: Drain | Update) -> None:
            m.d.comb += [
                self.aggregation.enable.eq(engine.aggregation.enable),
                self.aggregation.buffer.eq(engine.aggregation.buffer),
                self.aggregation.row.eq(engine.aggregation.row),
                engine.aggregation.valid.eq(self.aggregation.valid),
                engine.aggregation.data.eq(self.aggregation.data),
            ]

        header = CONTROL(issue.instruction[:CONTROL.size])
        with m.Switch(header.opcode):
            with m.Case(isa.Opcode.DRAIN):
                lend(drain)
                lend_secondary(drain)
                lend_aggregation(drain)
            with m.Case(isa.Opcode.LOSS):
                lend(loss)
                lend_primary(loss)
                lend_secondary(loss)
            with m.Case(isa.Opcode.UPDATE):
                lend(update)
                lend_primary(update)
                lend_aggregation(update)

        # An engine that is not at work has no magnitude, saturates nothing and waits for nothing.
        m.d.comb += [
            tracker.clear.eq(self.start),
            tracker.magnitude.eq(drain.magnitude | loss.magnitude | update.magnitude),
            self.peak.eq(tracker.peak),
        ]
        request = self.write.request
        m.d.sync += [
            self.words.eq(request.valid & request.ready),
            self.blocked.eq(request.valid & ~request.ready),
            self.starved.eq(drain.starved | loss.starved | update.starved),
            self.saturations.eq(drain.saturations | loss.saturations | update.saturations),
        ]
        return m
