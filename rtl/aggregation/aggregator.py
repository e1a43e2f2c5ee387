# SPDX-License-Identifier: BSD-2-Clause
"""Behind an ejection port: flits in, weighted additions into accumulators of its own."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from hypercast.rtl.aggregation.edge_buffer import EdgeBuffer, aggregator_streams, edge_word
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import AccumulatorPort, FlitKind, flit, weight_row
from hypercast.rtl.lib.accumulator_memory import AccumulatorMemory

__all__ = ["Aggregator"]


class Aggregator(wiring.Component):
    """Adds the flits of its planes to accumulators, one edge or digit per cycle.

    An AGGREGATE flit waits for each of its edges and leaves with the one marked last. A REDUCE
    flit is treated as one edge whose weight shifts it by ``digit`` elements; a WEIGHT flit is
    passed on. Flits are handled strictly in order.

    From taking an edge to the accumulators' port it takes two cycles: operands, product; each stage
    is registered. Both buffers of accumulators lie in one memory, so additions wait while a row is
    drained. They are zero when the device is configured, and after a reset of
    ``config.reset_cycles``.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    clear, fill, freed
        As in ``EdgeBuffer``.
    aggregate_buffer, reduce_buffer : In(1)
        Accumulator buffer that AGGREGATE and REDUCE flits are added to.
    flits : In(stream of flit)
        Flits of the aggregator's planes; ``ready`` comes from a register.
    weights : Out(stream of weight_row)
        Rows of WEIGHT flits.
    drain : In(AccumulatorPort)
        Reads and clears the aggregator's accumulators. Sees a sum if its ``enable`` comes two
        cycles after ``edge_added`` or ``digit_added``, or later.
    edge_added, digit_added : Out(1)
        High in the cycle in which an edge or digit is added.
    overflow : Out(1)
        High for a cycle if a sum did not fit its accumulator.
    starved : Out(1)
        High while an AGGREGATE flit waits for an edge.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        streams = aggregator_streams(config)
        super().__init__({
            "clear": In(1),
            "fill": In(stream.Signature(edge_word(config, streams), always_ready=True)),
            "freed": Out(stream.Signature(range(streams), always_ready=True)),
            "aggregate_buffer": In(1),
            "reduce_buffer": In(1),
            "flits": In(stream.Signature(flit(config))),
            "weights": Out(stream.Signature(weight_row(config))),
            "drain": In(AccumulatorPort(config, config.strip_rows)),
            "edge_added": Out(1),
            "digit_added": Out(1),
            "overflow": Out(1),
            "starved": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        m.submodules.edges = edges = EdgeBuffer(config)
        m.d.comb += edges.clear.eq(self.clear)
        connect(m, flipped(self.fill), edges.fill)
        connect(m, edges.freed, flipped(self.freed))

        # Two entries, so that no path leads from the edges back into the network.
        layout = flit(config)
        m.submodules.queue = queue = SyncFIFO(width=layout.size, depth=2)
        connect(m, flipped(self.flits), queue.w_stream)
        head = layout(queue.r_data)
        is_reduce = Signal()
        issued = Signal()
        moving = ~self.drain.enable
        m.d.comb += [
            is_reduce.eq(head.kind == FlitKind.REDUCE),
            edges.stream.eq(Cat(head.source, head.plane[exact_log2(config.eject):])),
            self.weights.payload.index.eq(head.index),
            self.weights.payload.payload.eq(head.payload),
        ]
        with m.If(queue.r_rdy):
            with m.Switch(head.kind):
                with m.Case(FlitKind.AGGREGATE):
                    m.d.comb += [
                        issued.eq(edges.valid),
                        edges.take.eq(issued & moving),
                        queue.r_en.eq(issued & moving & edges.edge.last),
                        self.starved.eq(~edges.valid),
                    ]
                with m.Case(FlitKind.REDUCE):
                    m.d.comb += [issued.eq(1), queue.r_en.eq(moving)]
                with m.Case(FlitKind.WEIGHT):
                    m.d.comb += [
                        self.weights.valid.eq(1),
                        queue.r_en.eq(self.weights.ready),
                    ]
        self._accumulate(m, issued, is_reduce, head, edges.edge)
        return m

    def _accumulate(self, m: Module, issued: Signal, is_reduce: Signal, head: data.View,
                    edge: data.View) -> None:
        """Bring the edge taken, or the digit issued, in this cycle to the accumulators."""
        config = self._config
        width = config.element_width
        # Multipliers shift digits by up to 16 bits. The upper digits take ``reach`` bits more.
        reach = width + 16
        step = data.StructLayout({
            "valid": 1,
            "is_reduce": 1,
            "upper": 1,
            "row": range(2 * config.strip_rows),
        })
        steps = [Signal(step, name=f"step_{index}") for index in range(2)]
        weight, upper = Signal(signed(18)), Signal()
        m.d.comb += weight.eq(edge.weight)
        with m.If(is_reduce), m.Switch(head.digit):
            for digit in range(config.digits):
                with m.Case(digit):
                    distance = digit * width
                    m.d.comb += [
                        weight.eq(1 << distance % reach),
                        upper.eq(distance >= reach),
                    ]

        factor = Signal.like(weight)
        word = Signal(data.ArrayLayout(signed(width), config.lanes))
        products = Signal(data.ArrayLayout(signed(reach), config.lanes))
        drain = self.drain
        with m.If(~drain.enable):
            m.d.sync += [
                steps[0].valid.eq(issued),
                steps[0].is_reduce.eq(is_reduce),
                steps[0].upper.eq(upper),
                steps[0].row.eq(Mux(
                    is_reduce, self._row(head.index, self.reduce_buffer),
                    self._row(edge.row, self.aggregate_buffer))),
                factor.eq(weight),
                word.eq(head.payload),
                steps[1].eq(steps[0]),
            ]
            m.d.sync += [product.eq(element * factor)
                         for product, element in zip(products, word, strict=True)]

        m.submodules.accumulators = accumulators = AccumulatorMemory(
            config, 2 * config.strip_rows)
        added = ~drain.enable & steps[1].valid
        drained = Signal()
        m.d.sync += [
            drained.eq(drain.enable),
            drain.valid.eq(drained),
            drain.data.eq(accumulators.data),
            self.overflow.eq(accumulators.overflow),
        ]
        m.d.comb += [
            accumulators.enable.eq(drain.enable | steps[1].valid),
            accumulators.clear.eq(drain.enable),
            accumulators.row.eq(Mux(
                drain.enable, self._row(drain.row, drain.buffer), steps[1].row)),
            self.edge_added.eq(added & ~steps[1].is_reduce),
            self.digit_added.eq(added & steps[1].is_reduce),
        ]
        m.d.comb += [addend.eq(Mux(steps[1].upper, product << reach, product))
                     for addend, product in zip(accumulators.addend, products, strict=True)]

    def _row(self, row: Value, buffer: Value) -> Value:
        """Where a buffer's row lies in the memory."""
        return Cat(row[:exact_log2(self._config.strip_rows)], buffer)
