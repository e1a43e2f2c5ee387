"""Double-buffered rows of accumulators in block memory."""

from amaranth.hdl import Cat, Module, Mux, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from hypercast.rtl.layouts import AccumulatorPort, accumulator_row

__all__ = ["AccumulatorBank"]


class AccumulatorBank(wiring.Component):
    """Adds rows to accumulators, one row per cycle, while another buffer is drained.

    The sum is written back in the cycle after ``add_enable``. A row added to in two successive
    cycles is forwarded past the memory. All accumulators are zero when the device is configured,
    and after a reset of at least ``config.accumulator_rows`` cycles. Adding to a buffer that is
    being drained is the user's error, and gives wrong sums.

    Parameters
    ----------
    config : Config
        Gives the number of rows and the width of a row.

    Members
    -------
    add_enable : In(1)
        High to add ``addend`` to row ``add_row`` of ``add_buffer``; a drain sees the sum if its
        ``enable`` comes two cycles later or more.
    add_buffer, add_row, addend : In
        Valid with ``add_enable``. Sums wrap at ``config.accumulator_width`` bits.
    drain : In(AccumulatorPort(config))
        Reads and clears rows; latency 2, one row per cycle.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "add_enable": In(1),
            "add_buffer": In(1),
            "add_row": In(range(config.accumulator_rows)),
            "addend": In(accumulator_row(config)),
            "drain": In(AccumulatorPort(config)),
        })

    def elaborate(self, platform):
        m = Module()
        shape = accumulator_row(self._config)
        depth = self._config.accumulator_rows
        drain = self.drain

        # The second cycle of an addition and of a drain: the memories' data are there.
        adding, add_buffer, add_row = Signal(), Signal(), Signal.like(self.add_row)
        draining, drain_buffer, drain_row = Signal(), Signal(), Signal.like(drain.row)
        addend, total, previous = Signal(shape), Signal(shape), Signal(shape)
        repeated = Signal()
        m.d.sync += [
            adding.eq(self.add_enable),
            add_buffer.eq(self.add_buffer),
            add_row.eq(self.add_row),
            addend.eq(self.addend),
            previous.eq(total),
            repeated.eq(adding & (Cat(self.add_buffer, self.add_row) == Cat(add_buffer, add_row))),
            draining.eq(drain.enable),
            drain_buffer.eq(drain.buffer),
            drain_row.eq(drain.row),
        ]

        clearing = ResetSignal(allow_reset_less=True)
        cleared_row = Signal.like(self.add_row, reset_less=True)
        with m.If(clearing):
            m.d.sync += cleared_row.eq(cleared_row + 1)

        rows = []
        for buffer in range(2):
            m.submodules[f"buffer_{buffer}"] = memory = Memory(shape=shape, depth=depth, init=[])
            read, write = memory.read_port(), memory.write_port()
            rows.append(read.data)
            add_here = self.add_enable & (self.add_buffer == buffer)
            drain_here = drain.enable & (drain.buffer == buffer)
            sum_here = adding & (add_buffer == buffer)
            m.d.comb += [
                read.en.eq(add_here | drain_here),
                read.addr.eq(Mux(add_here, self.add_row, drain.row)),
                write.en.eq(sum_here | (draining & (drain_buffer == buffer))),
                write.addr.eq(Mux(sum_here, add_row, drain_row)),
            ]
            with m.If(clearing):
                m.d.comb += [write.en.eq(1), write.addr.eq(cleared_row)]
            with m.Elif(sum_here):
                m.d.comb += write.data.eq(total)

        for lane in range(self._config.lanes):
            stored = Mux(add_buffer, rows[1][lane], rows[0][lane])
            m.d.comb += total[lane].eq(Mux(repeated, previous[lane], stored) + addend[lane])
            m.d.sync += drain.data[lane].eq(Mux(drain_buffer, rows[1][lane], rows[0][lane]))
        m.d.sync += drain.valid.eq(draining)
        return m
