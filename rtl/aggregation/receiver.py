# SPDX-License-Identifier: BSD-2-Clause
"""Receiving side of the aggregate engine: aggregators, edges, and what is still to come."""

import functools
import operator
from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from hypercast.rtl import isa
from hypercast.rtl.aggregation.aggregator import Aggregator
from hypercast.rtl.aggregation.edge_fetch import EdgeFetch
from hypercast.rtl.aggregation.edge_header import edge_count
from hypercast.rtl.aggregation.reduction_count import ReductionCount
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import AccumulatorPort, Issue, ReadPort, flit, weight_row

__all__ = ["Receiver"]


class Receiver(wiring.Component):
    """Takes flits from the network: adds AGGREGATE and REDUCE flits, passes WEIGHT flits on.

    Aggregator ``e`` takes the flits of planes ``r`` with ``r mod eject = e``, one edge or digit per
    cycle, and has accumulators of its own; a drain sees their sum.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    core : In(dimensions)
        This core's address; constant.
    start : In(1)
        High for a cycle, while not ``busy``, when an AGGREGATE starts.
    reduce_start : In(1)
        High for a cycle when a GRADIENT starts.
    clear : In(1)
        High for a cycle when a program starts: the host may have changed the memory.
    issue : In(Issue)
        The instruction; valid with ``start`` and ``reduce_start``.
    busy : Out(1)
        High from the cycle after ``start`` until a drain sees all the edge set's edges added; stays
        low if the instruction is to ``prefetch`` only.
    reduction_busy : Out(1)
        High from the cycle after ``reduce_start`` until a drain sees all expected digits added.
    error : Out(1)
        High for a cycle when a REDUCE flit came that no GRADIENT announced.
    overflow : Out(1)
        High for a cycle if a sum did not fit an accumulator, or its aggregators' sum if drained.
    flits : array of In(stream of flit)
        One per aggregator; ``ready`` comes from a register.
    edges : Out(ReadPort)
        Memory (channel 1) for the edge sets; ``data`` is always accepted.
    weights : array of Out(stream of {index, payload})
        Rows for the weight bank, of each aggregator.
    drain : In(AccumulatorPort)
        Reads and clears a row of all aggregators, giving the sum; latency 2.
    edge_count : Out(range(eject + 1))
        Edges added, for the counters; registered.
    starved : Out(range(eject + 1))
        Aggregators in which a flit waited for an edge, for the counters; registered.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "core": In(config.dimensions),
            "start": In(1),
            "reduce_start": In(1),
            "clear": In(1),
            "issue": In(Issue),
            "busy": Out(1),
            "reduction_busy": Out(1),
            "error": Out(1),
            "overflow": Out(1),
            "flits": In(stream.Signature(flit(config))).array(config.eject),
            "edges": Out(ReadPort(config)),
            "weights": Out(stream.Signature(weight_row(config))).array(config.eject),
            "drain": In(AccumulatorPort(config, config.strip_rows)),
            "edge_count": Out(range(config.eject + 1)),
            "starved": Out(range(config.eject + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        m.submodules.fetch = fetch = EdgeFetch(config)
        m.submodules.reductions = reductions = ReductionCount(config)
        aggregators = [Aggregator(config) for _ in range(config.eject)]

        # Instructions.
        aggregate = self.issue.view(isa.Opcode.AGGREGATE)
        gradient = self.issue.view(isa.Opcode.GRADIENT)
        aggregate_buffer, reduce_buffer = Signal(), Signal()
        with m.If(self.start):
            m.d.sync += aggregate_buffer.eq(aggregate.buffer)
        with m.If(self.reduce_start):
            m.d.sync += reduce_buffer.eq(gradient.buffer)

        # Aggregators.
        connect(m, fetch.port, flipped(self.edges))
        m.d.comb += [
            fetch.start.eq(self.start),
            fetch.edge_set.eq(aggregate.edge_set),
            fetch.prefetch.eq(aggregate.prefetch),
            fetch.forget.eq(self.clear),
        ]
        number = fetch.fill.payload.stream
        source, plane = number[:config.dimensions], number[config.dimensions:]
        aggregator_bits = exact_log2(config.eject)
        for index, aggregator in enumerate(aggregators):
            m.submodules[f"aggregator_{index}"] = aggregator
            connect(m, flipped(self.flits[index]), aggregator.flits)
            connect(m, aggregator.weights, flipped(self.weights[index]))
            connect(m, aggregator.freed, fetch.freed[index])
            m.d.comb += [
                aggregator.clear.eq(fetch.clear),
                aggregator.fill.valid.eq(fetch.fill.valid & (plane[:aggregator_bits] == index)),
                aggregator.fill.payload.stream.eq(Cat(source, plane[aggregator_bits:])),
                aggregator.fill.payload.word.eq(fetch.fill.payload.word),
                aggregator.aggregate_buffer.eq(aggregate_buffer),
                aggregator.reduce_buffer.eq(reduce_buffer),
            ]
        self._sum_accumulators(m, aggregators)

        # What is still to come.
        digit_count = Signal(range(config.eject + 1))
        m.d.sync += [
            self.edge_count.eq(sum(aggregator.edge_added for aggregator in aggregators)),
            self.starved.eq(sum(aggregator.starved for aggregator in aggregators)),
            digit_count.eq(sum(aggregator.digit_added for aggregator in aggregators)),
        ]
        edges_left = Signal(edge_count(config))
        with m.If(fetch.total.valid):
            m.d.sync += edges_left.eq(fetch.total.payload)
        with m.Else():
            m.d.sync += edges_left.eq(edges_left - self.edge_count)
        m.d.comb += [
            self.busy.eq(fetch.busy | (edges_left != 0)),
            reductions.core.eq(self.core),
            reductions.start.eq(self.reduce_start),
            reductions.issue.eq(self.issue),
            reductions.arrived.eq(digit_count),
            self.reduction_busy.eq(reductions.busy),
            self.error.eq(reductions.error),
        ]
        return m

    def _sum_accumulators(self, m: Module, aggregators: Sequence[Aggregator]) -> None:
        """Drain all aggregators at once."""
        for aggregator in aggregators:
            m.d.comb += [
                aggregator.drain.enable.eq(self.drain.enable),
                aggregator.drain.buffer.eq(self.drain.buffer),
                aggregator.drain.row.eq(self.drain.row),
            ]
        m.d.comb += self.drain.valid.eq(aggregators[0].drain.valid)
        fits = Signal(self._config.lanes)
        for index, element in enumerate(self.drain.data):
            total = functools.reduce(operator.add, (
                aggregator.drain.data[index] for aggregator in aggregators))
            signs = total[len(element) - 1:]
            m.d.comb += [element.eq(total), fits[index].eq(signs.all() | ~signs.any())]
        m.d.sync += self.overflow.eq(
            Cat(aggregator.overflow for aggregator in aggregators).any()
            | (self.drain.valid & ~fits.all()))
