"""What UPDATE works on: optimiser state and summed gradients, element by element."""

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.layouts import AccumulatorPort, accumulator_row
from hypercast.rtl.lib.unpacker import Unpacker
from hypercast.rtl.vector.ports import WordSource

__all__ = ["UpdateReader", "elements_per_step", "update_elements"]


def elements_per_step(config):
    """Elements UPDATE handles per cycle: as many as memory can read and write in that time.

    An element's state is 64 bits, which a channel must read and write.
    """
    return max(1, config.word_width // 128)


def update_elements(config):
    """Layout: elements handled in one cycle."""
    return data.ArrayLayout(data.StructLayout({
        "master": signed(32),
        "momentum": signed(32),
        "gradient": signed(config.accumulator_width),
    }), elements_per_step(config))


class UpdateReader(wiring.Component):
    """Reads rows of state and of accumulators, and gives out their elements.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only when all elements of the last run have been taken.
    rows : In(20), address : In(address_width), row : In
        Rows, the address of the first row's state in channel 1, and its accumulator row; valid
        with ``start``.
    buffer : In(1)
        Accumulator buffer; held during the run.
    source : Out(WordSource(config))
        Brings the state.
    aggregation : Out(AccumulatorPort(config))
        The gradients.
    o : Out(stream of update_elements(config))
        Elements of the rows, lane 0 first.
    starved : Out(1)
        The state of a row is awaited.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "rows": In(20),
            "address": In(config.address_width),
            "row": In(range(config.accumulator_rows)),
            "buffer": In(1),
            "source": Out(WordSource(config)),
            "aggregation": Out(AccumulatorPort(config)),
            "o": Out(stream.Signature(update_elements(config))),
            "starved": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        config = self._config
        state_row = data.StructLayout({
            "master": data.ArrayLayout(signed(32), config.lanes),
            "momentum": data.ArrayLayout(signed(32), config.lanes)})
        m.submodules.unpacker = unpacker = Unpacker(config.word_width, state_row.size)
        connect(m, flipped(self.source.words), unpacker.i)
        state = state_row(unpacker.o.payload)

        # All rows' state is one run of words.
        command = self.source.command
        with m.If(command.ready):
            m.d.sync += command.valid.eq(0)
        with m.If(self.start):
            m.d.sync += [
                command.valid.eq(self.rows != 0),
                command.p.channel.eq(1),
                command.p.address.eq(self.address),
                command.p.count.eq(self.rows * (2 * config.state_words)),
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
            m.d.sync += [row.eq(self.row), unfetched.eq(self.rows)]

        # Both together are shifted out.
        steps = config.lanes // elements_per_step(config)
        elements = Signal(data.ArrayLayout(update_elements(config), steps))
        left = Signal(range(steps + 1))
        free = Signal()
        m.d.comb += [
            self.o.valid.eq(left != 0),
            self.o.payload.eq(elements[0]),
            free.eq((left == 0) | ((left == 1) & self.o.ready)),
            taken.eq(free & unpacker.o.valid & fetched),
            unpacker.o.ready.eq(free & fetched),
            self.starved.eq(free & fetched & ~unpacker.o.valid),
        ]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += [
                elements.eq(elements.as_value() >> update_elements(config).size),
                left.eq(left - 1),
            ]
        with m.If(taken):
            m.d.sync += left.eq(steps)
            for lane in range(config.lanes):
                step, position = divmod(lane, elements_per_step(config))
                element = elements[step][position]
                m.d.sync += [
                    element.master.eq(state.master[lane]),
                    element.momentum.eq(state.momentum[lane]),
                    element.gradient.eq(gradient[lane]),
                ]
        return m
