"""One lane of the receiver: flits in, weighted additions into accumulators of its own."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from hypercast.rtl.aggregation.edge_buffer import EdgeBuffer, edge_word, lane_streams
from hypercast.rtl.layouts import AccumulatorPort, FlitKind, accumulator_row, flit, weight_row
from hypercast.rtl.lib.accumulator_bank import AccumulatorBank

__all__ = ["Lane"]


class Lane(wiring.Component):
    """Adds the flits of its planes into an accumulator bank, one edge or slice per cycle.

    An AGGREGATE flit waits for each of its edges and leaves with the one marked last. A REDUCE
    flit is treated as one edge of weight 1 whose product is shifted by ``slice`` elements; a
    WEIGHT flit is passed on. Flits are handled strictly in order.

    From taking an edge to the accumulator bank's port it takes three cycles: operands, product,
    shifted addend; each stage is registered.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    clear, fill, freed
        As of ``EdgeBuffer``.
    aggregate_buffer, reduce_buffer : In(1)
        Accumulator buffer that AGGREGATE and REDUCE flits are added to.
    flits : In(stream of flit)
        Flits of the lane's planes; ``ready`` comes from a register.
    weights : Out(stream of weight_row)
        Rows of WEIGHT flits.
    drain : In(AccumulatorPort)
        Reads and clears the lane's accumulators.
    edge_added, slice_added : Out(1)
        High in the cycle in which an edge or slice enters the accumulator bank.
    starved : Out(1)
        High while an AGGREGATE flit waits for an edge.
    """

    def __init__(self, config):
        self._config = config
        streams = lane_streams(config)
        super().__init__({
            "clear": In(1),
            "fill": In(stream.Signature(edge_word(config, streams), always_ready=True)),
            "freed": Out(stream.Signature(range(streams), always_ready=True)),
            "aggregate_buffer": In(1),
            "reduce_buffer": In(1),
            "flits": In(stream.Signature(flit(config))),
            "weights": Out(stream.Signature(weight_row(config))),
            "drain": In(AccumulatorPort(config)),
            "edge_added": Out(1),
            "slice_added": Out(1),
            "starved": Out(1),
        })

    def elaborate(self, platform):
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
                        edges.take.eq(edges.valid),
                        issued.eq(edges.valid),
                        queue.r_en.eq(edges.valid & edges.edge.last),
                        self.starved.eq(~edges.valid),
                    ]
                with m.Case(FlitKind.REDUCE):
                    m.d.comb += [issued.eq(1), queue.r_en.eq(1)]
                with m.Case(FlitKind.WEIGHT):
                    m.d.comb += [
                        self.weights.valid.eq(1),
                        queue.r_en.eq(self.weights.ready),
                    ]
        self._accumulate(m, issued, is_reduce, head, edges.edge)
        return m

    def _accumulate(self, m, issued, is_reduce, head, edge):
        """From the edge taken or slice issued this cycle to the accumulator bank."""
        config = self._config
        width = config.element_width
        step = data.StructLayout({
            "valid": 1,
            "is_reduce": 1,
            "buffer": 1,
            "row": range(config.accumulator_rows),
            "slice": range(config.slices),
        })
        steps = [Signal(step, name=f"step_{index}") for index in range(3)]
        weight = Signal(signed(width))
        word = Signal(data.ArrayLayout(signed(width), config.lanes))
        products = Signal(data.ArrayLayout(signed(2 * width), config.lanes))
        addend = Signal(accumulator_row(config))
        m.d.sync += [
            steps[0].valid.eq(issued),
            steps[0].is_reduce.eq(is_reduce),
            steps[0].buffer.eq(Mux(is_reduce, self.reduce_buffer, self.aggregate_buffer)),
            steps[0].row.eq(Mux(is_reduce, head.index, edge.row)),
            steps[0].slice.eq(Mux(is_reduce, head.slice, 0)),
            weight.eq(Mux(is_reduce, 1, edge.weight)),
            word.eq(head.payload),
            steps[1].eq(steps[0]),
            steps[2].eq(steps[1]),
        ]
        for lane in range(config.lanes):
            m.d.sync += products[lane].eq(word[lane] * weight)
            with m.Switch(steps[1].slice):
                for digit in range(config.slices):
                    with m.Case(digit):
                        m.d.sync += addend[lane].eq(products[lane].shift_left(width * digit))

        m.submodules.accumulators = accumulators = AccumulatorBank(config)
        connect(m, flipped(self.drain), accumulators.drain)
        m.d.comb += [
            accumulators.add_enable.eq(steps[2].valid),
            accumulators.add_buffer.eq(steps[2].buffer),
            accumulators.add_row.eq(steps[2].row),
            accumulators.addend.eq(addend),
            self.edge_added.eq(steps[2].valid & ~steps[2].is_reduce),
            self.slice_added.eq(steps[2].valid & steps[2].is_reduce),
        ]
