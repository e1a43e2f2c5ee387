"""Sends finished weight gradients from the systolic array to the cores that own their tiles."""

from amaranth.hdl import Cat, Const, Module, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hypercast.rtl.layouts import FlitKind, accumulator_row, flit

__all__ = ["GradientSender"]


class GradientSender(wiring.Component):
    """Cuts the rows of captured tiles into slices, one REDUCE flit each.

    Tile ``t`` goes to core ``t mod N``, row ``i`` to accumulator row ``(t div N) * P + i``, rows in
    descending order and the lowest digit first, one flit per cycle. An accumulator's digit is its
    low ``E`` bits, read as signed; what is left is ``(a - digit) >> E``. Flits take the planes in
    turn, so that they spread over an owner's ejection ports.

    Rows wait in a queue of two tiles, so that the array can go on while they are sent.

    Parameters
    ----------
    config : Config
        Configuration.
    distance : int
        The array's ``shift_distance``.

    Members
    -------
    start : In(1), first_tile : In(16)
        The next tile captured is number ``first_tile``, those after it follow. Only while not
        ``busy``.
    core : In(dimensions)
        Address of this core.
    capture : In(1)
        A tile's last word has entered the array. Only while ``free``.
    free : Out(1)
        The array's chain holds nothing that is still wanted.
    shift : Out(1)
        Takes a row out of the array's chain.
    sums : In(accumulator_row(config)), sums_valid : In(1)
        The rows, in the order of ``shift``, some cycles later.
    flits : Out(stream of flit(config))
        The REDUCE flits.
    busy : Out(1)
        High from the cycle after ``capture`` until the last flit is taken.
    """

    def __init__(self, config, distance):
        self._config = config
        self._distance = distance
        super().__init__({
            "start": In(1),
            "first_tile": In(16),
            "core": In(config.dimensions),
            "capture": In(1),
            "free": Out(1, init=1),
            "shift": Out(1),
            "sums": In(accumulator_row(config)),
            "sums_valid": In(1),
            "flits": Out(stream.Signature(flit(config))),
            "busy": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        config, flits = self._config, self.flits
        width = config.element_width

        depth = 2 * config.lanes
        m.submodules.queue = queue = SyncFIFOBuffered(width=len(self.sums.as_value()), depth=depth)
        wait = Signal(range(self._distance))
        held = Signal(range(config.lanes + 1))  # rows still in the chain
        reserved = Signal(range(depth + 1))     # rows on the way to the queue, or in it
        values = Signal(data.ArrayLayout(signed(config.accumulator_width), config.lanes))
        full = Signal()  # ``values`` holds a row, or what is left of it
        row = Signal(range(config.lanes))
        tile = Signal(16)
        sent, done, take = Signal(), Signal(), Signal()
        m.d.comb += [
            sent.eq(flits.valid & flits.ready),
            done.eq(sent & (flits.p.slice == config.slices - 1)),
            take.eq(queue.r_rdy & (~full | done)),
            queue.r_en.eq(take),
            queue.w_en.eq(self.sums_valid),
            queue.w_data.eq(self.sums),
            self.shift.eq((held != 0) & (wait == 0) & (reserved != depth)),
            self.free.eq(held == 0),
            self.busy.eq(~self.free | (reserved != 0) | full),
        ]

        owner = tile[:config.dimensions]
        slice_number, plane = Signal.like(flits.p.slice), Signal.like(flits.p.plane)
        m.d.comb += [
            flits.valid.eq(full),
            flits.p.mask.eq(Const(1) << (owner ^ self.core)),
            flits.p.plane.eq(plane),
            flits.p.kind.eq(FlitKind.REDUCE),
            flits.p.slice.eq(slice_number),
            flits.p.index.eq(Cat(row, tile[config.dimensions:])),
            flits.p.payload.eq(Cat(value[:width] for value in values)),
        ]

        with m.If(self.start):
            m.d.sync += tile.eq(self.first_tile)
        with m.If(self.capture):
            m.d.sync += [wait.eq(self._distance - 1), held.eq(config.lanes)]
        with m.Else():
            with m.If(wait != 0):
                m.d.sync += wait.eq(wait - 1)
            with m.If(self.shift):
                m.d.sync += held.eq(held - 1)
        m.d.sync += reserved.eq(reserved + self.shift - take)

        with m.If(sent):
            m.d.sync += [slice_number.eq(slice_number + 1), plane.eq(plane + 1)]
            for value in values:
                m.d.sync += value.eq((value >> width) + value[width - 1])
        with m.If(done):
            m.d.sync += [slice_number.eq(0), full.eq(0)]
            with m.If(row == 0):
                m.d.sync += tile.eq(tile + 1)
        with m.If(take):
            m.d.sync += [
                values.eq(queue.r_data),
                full.eq(1),
                row.eq(row - 1),  # from 0, where the tile before ended
            ]
        return m
