# SPDX-License-Identifier: BSD-2-Clause
"""UPDATE: the optimiser's step on the rows of weights this core owns."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import AccumulatorPort, Issue, flit
from hypercast.rtl.lib.burst_reader import WordSource
from hypercast.rtl.vector.adam_step import AdamStep
from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.pipeline import delay_by
from hypercast.rtl.vector.ports import write_request
from hypercast.rtl.vector.update_lane import UpdateLane
from hypercast.rtl.vector.update_reader import UpdateReader
from hypercast.rtl.vector.update_writer import UpdateWriter, update_group

__all__ = ["Update"]


class Update(wiring.Component):
    """Engine of the UPDATE instruction.

    With ``keep``, it writes the summed gradients to memory, as two parts of 32 bits, and does no
    more.

    An element passes per cycle, so that a row takes as many cycles as there are lanes, or as long
    as a channel that moves one word per cycle takes for its state, and one more for its flit.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only while not ``busy``.
    issue : In(Issue)
        The instruction; held from ``start`` until no more ``busy``.
    core : In(dimensions)
        This core's address.
    busy : Out(1)
        High from the cycle after ``start`` until the last write and flit are accepted.
    primary : Out(WordSource(config))
        Optimiser state.
    aggregation : Out(AccumulatorPort)
        Summed gradients.
    write : Out(stream of writes)
        New optimiser state.
    flits : Out(stream of flit(config))
        New weights.
    magnitude : Out(31)
        OR of the magnitudes of the new master weights; zero if there are none.
    saturations : Out
        How many values have just saturated.
    starved : Out(1)
        A row waits for its state.
    """

    #: Groups under way or waiting to be written.
    _GROUPS = 16

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "issue": In(Issue),
            "core": In(config.dimensions),
            "busy": Out(1),
            "primary": Out(WordSource(config)),
            "aggregation": Out(AccumulatorPort(config, config.strip_rows)),
            "write": Out(write_request(config)),
            "flits": Out(stream.Signature(flit(config))),
            "magnitude": Out(31),
            "saturations": Out(2),
            "starved": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        operands = self.issue.view(isa.Opcode.UPDATE)
        m.submodules.reader = reader = UpdateReader(config)
        m.submodules.output = output = CreditFIFO(update_group(config), self._GROUPS)
        m.submodules.writer = writer = UpdateWriter(config)
        connect(m, reader.source, flipped(self.primary))
        connect(m, reader.aggregation, flipped(self.aggregation))
        connect(m, output.o, writer.i)
        connect(m, writer.write, flipped(self.write))
        connect(m, writer.flits, flipped(self.flits))

        # Every N-th row is this core's, from its address on.
        owned = Signal.like(operands.rows)
        m.d.comb += owned.eq((operands.rows + (config.cores - 1) - self.core) >> config.dimensions)
        for block in (reader, writer):
            m.d.comb += [
                block.start.eq(self.start),
                block.rows.eq(owned),
                block.address.eq(operands.state),
                block.keep.eq(operands.keep),
                block.kept.eq(operands.kept),
            ]
        adam = operands.adam if config.adam else C(0, 1)
        m.d.comb += [
            reader.adam.eq(adam),
            writer.adam.eq(adam),
            reader.row.eq(operands.first_row >> config.dimensions),
            reader.buffer.eq(operands.buffer),
            writer.index.eq(operands.weights + self.core),
            writer.core.eq(self.core),
            self.busy.eq(writer.busy),
            self.starved.eq(reader.starved),
        ]

        # Elements pass the pipeline, and are joined to groups at its end.
        m.submodules.lane = lane = UpdateLane(config)
        per_group = config.word_width // 32
        entering, leaving = Signal(range(per_group)), Signal(range(per_group))
        go, updated, done = Signal(), Signal(), Signal()
        computed = delay_by(m, go & ~operands.keep, UpdateLane.LATENCY)
        if config.adam:
            computed = Mux(adam, delay_by(m, computed & adam, AdamStep.LATENCY), computed)
        m.d.comb += [updated.eq(computed), done.eq(updated | (go & operands.keep))]
        m.d.comb += [
            reader.o.ready.eq(output.credit | (entering != 0)),
            go.eq(reader.o.valid & reader.o.ready),
            output.take.eq(go & (entering == 0)),
            output.push.eq(done & (leaving == per_group - 1)),
        ]
        with m.If(go):
            m.d.sync += entering.eq(entering + 1)
        with m.If(done):
            m.d.sync += leaving.eq(leaving + 1)

        rates = lane.rates
        m.d.comb += [rates[name].eq(operands[name]) for name in (
            "momentum", "decay", "decay_shift", "rate", "rate_shift", "second_decay",
            "second_decay_shift", "epsilon", "epsilon_exponent")]
        m.d.comb += [
            rates.adam.eq(adam),
            rates.gradient_shift.eq(self.issue.aux_shift),
            rates.operand_shift.eq(self.issue.shift),
        ]
        m.d.comb += [getattr(lane, name).eq(reader.o.p[name])
                     for name in reader.o.p.shape().members]
        gradient = reader.o.p.gradient
        sums = {"master": gradient[:32],
                "momentum": Cat(gradient[32:], gradient[-1].replicate(64 - len(gradient)))}
        for name in output.i.shape().members:
            collected = output.i[name].as_value()
            new = Value.cast(getattr(lane, name if name == "operand" else f"new_{name}"))
            if name in sums:
                new = Mux(operands.keep, sums[name], new.as_unsigned())
            earlier = Signal(len(collected) - len(new))  # empty if an element makes a group
            m.d.comb += collected.eq(Cat(earlier, new))
            with m.If(done):
                m.d.sync += earlier.eq(collected >> len(new))

        with m.If(updated):
            m.d.sync += [self.magnitude.eq(lane.magnitude), self.saturations.eq(lane.saturations)]
        with m.Else():
            m.d.sync += [self.magnitude.eq(0), self.saturations.eq(0)]
        return m
