"""Sends finished weight gradients from the systolic array to the cores that own their rows."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.layouts import FlitKind, accumulator_row, flit

__all__ = ["GradientSender"]


class GradientSender(wiring.Component):
    """Cuts the rows of captured tiles into slices, one REDUCE flit each.

    Row ``i`` of the ``k``-th tile captured is reduction row ``R = first_row + k * P + i``; with
    ``ones``, only row 0 of each tile is sent, as ``R = first_row + k``. It goes to core
    ``R mod N``, accumulator row ``R div N``, the lowest digit first, one flit per cycle. An
    accumulator's digit is its low ``E`` bits, read as signed; what is left is ``(a - digit) >> E``.

    All cores finish a tile at about the same time. So that they do not all send to one owner, the
    ``n``-th row sent is row ``n XOR core`` (modulo ``P``): to owners that are, for all of them, in
    the same place relative to their own, so that flits do not meet on their way either. If there
    are more cores than rows, cores that send the same rows begin with planes of their own; all take
    the planes in turn, so that flits spread over an owner's ejection ports.

    ``column_sums``, a row on its own, is there before the first tile has left the chain, and goes
    first.

    A buffer of two tiles lets the array go on while rows are sent: a tile is sent when all of it
    has come out of the chain.

    Parameters
    ----------
    config : Config
        Configuration.
    distance, overlap : int
        The array's ``shift_distance`` and ``shift_overlap``.

    Members
    -------
    start : In(1), first_row : In(20)
        The next tile captured begins with reduction row ``first_row``, those after it follow. Only
        while not ``busy``.
    sums_row : In(20)
        Reduction row of ``column_sums``; held while ``busy``.
    ones : In(1), slices : In(3)
        Whether only row 0 is sent, and the digits of an accumulator, 1 to ``config.slices``; held
        while ``busy``.
    core : In(dimensions)
        Address of this core.
    capture : In(1)
        A tile's last word has entered the array. Only while ``free``.
    free : Out(1)
        The array's chain can take a tile.
    shift : Out(1)
        Takes a row out of the array's chain.
    sums : In(accumulator_row(config)), sums_valid : In(1)
        The rows, in the order of ``shift``, some cycles later, but less than ``distance``.
    column_sums : In(stream of accumulator_row(config))
        A row to be sent besides; comes soon after the first ``capture``.
    flits : Out(stream of flit(config))
        The REDUCE flits.
    busy : Out(1)
        High from the cycle after ``capture``, and with ``column_sums``, until the last flit is
        taken.
    """

    def __init__(self, config, distance, overlap):
        self._config = config
        self._distance = distance
        self._overlap = overlap
        super().__init__({
            "start": In(1),
            "first_row": In(20),
            "sums_row": In(20),
            "ones": In(1),
            "slices": In(3),
            "core": In(config.dimensions),
            "capture": In(1),
            "free": Out(1, init=1),
            "shift": Out(1),
            "sums": In(accumulator_row(config)),
            "sums_valid": In(1),
            "column_sums": In(stream.Signature(accumulator_row(config))),
            "flits": Out(stream.Signature(flit(config))),
            "busy": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.buffer = buffer = Memory(
            shape=len(self.sums.as_value()), depth=2 * self._config.lanes, init=[])
        coming = Signal(range(3))    # tiles on the way to the buffer, or in it
        complete = Signal(range(3))  # those of which all rows are in it
        receiving, begin, whole = self._receive(m, buffer.write_port(), coming != 2)
        sending, emptied = self._send(m, buffer.read_port(), complete != 0)
        m.d.comb += self.busy.eq(receiving | (coming != 0) | sending | self.column_sums.valid)
        m.d.sync += [
            coming.eq(coming + begin - emptied),
            complete.eq(complete + whole - emptied),
        ]
        return m

    def _receive(self, m, write, room):
        """From the chain to the buffer, row ``P - 1`` first, a tile without a pause.

        Returns that the chain holds rows, or will, and that a tile begins to leave it if there is
        ``room`` for one, and has come.
        """
        lanes = self._config.lanes
        row_bits = exact_log2(lanes)
        wait = Signal(range(self._distance))
        held = Signal(range(lanes + 1))  # rows in the chain
        put = Signal(row_bits + 1)       # rows that came, over both halves of the buffer
        m.d.comb += [
            self.shift.eq((held != 0) & ((held != lanes) | room)),
            self.free.eq((wait == 0) & ((held == 0) | (self.shift & (held <= self._overlap + 1)))),
            write.addr.eq(Cat(~put[:row_bits], put[row_bits])),
            write.data.eq(self.sums),
            write.en.eq(self.sums_valid),
        ]
        with m.If(self.capture):
            m.d.sync += wait.eq(self._distance - 1)
        with m.Elif(wait != 0):
            m.d.sync += wait.eq(wait - 1)
        with m.If(wait == 1):
            m.d.sync += held.eq(lanes)
        with m.Elif(self.shift):
            m.d.sync += held.eq(held - 1)
        m.d.sync += put.eq(put + self.sums_valid)
        return ((wait != 0) | (held != 0), self.shift & (held == lanes),
                self.sums_valid & put[:row_bits].all())

    def _send(self, m, read, tile_there):
        """From the buffer to its output register, to ``values``, and to the network.

        Returns that a row is on this way, and that a tile's last row leaves the buffer.
        """
        config, flits, sums = self._config, self.flits, self.column_sums
        width, lanes = config.element_width, config.lanes
        row_bits = exact_log2(lanes)
        half, count, row = Signal(), Signal(row_bits), Signal(row_bits)  # ``count``: rows read
        first = Signal(20)  # reduction row of the tile's row 0
        read_place, place = Signal(20), Signal(20)  # reduction rows of ``read.data``, ``values``
        read_full, full = Signal(), Signal()
        values = Signal(data.ArrayLayout(signed(config.accumulator_width), lanes))
        slice_number, turn = Signal.like(flits.p.slice), Signal.like(flits.p.plane)
        sent, done, take, emptied = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            sent.eq(flits.valid & flits.ready),
            done.eq(sent & (slice_number == self.slices - 1)),
            take.eq(read_full & (~full | done)),
            row.eq(Mux(self.ones, 0, count ^ self.core)),
            read.addr.eq(Cat(row, half)),
            read.en.eq(tile_there & (~read_full | take)),
            sums.ready.eq(~read_full & ~full),
            emptied.eq(read.en & (self.ones | count.all())),
        ]
        with m.If(self.start):
            m.d.sync += first.eq(self.first_row)
        with m.If(read.en):
            m.d.sync += [read_full.eq(1), read_place.eq(first + row), count.eq(count + 1)]
        with m.Elif(take):
            m.d.sync += read_full.eq(0)
        with m.If(emptied):
            m.d.sync += [half.eq(~half), count.eq(0), first.eq(first + Mux(self.ones, 1, lanes))]

        owner = place[:config.dimensions]
        m.d.comb += [
            flits.valid.eq(full),
            flits.p.mask.eq(Const(1) << (owner ^ self.core)),
            flits.p.plane.eq(turn + self.core[row_bits:]),
            flits.p.kind.eq(FlitKind.REDUCE),
            flits.p.slice.eq(slice_number),
            flits.p.index.eq(place[config.dimensions:]),
            flits.p.payload.eq(Cat(value[:width] for value in values)),
        ]
        with m.If(sent):
            m.d.sync += [slice_number.eq(slice_number + 1), turn.eq(turn + 1)]
            for value in values:
                m.d.sync += value.eq((value >> width) + value[width - 1])
        with m.If(done):
            m.d.sync += [slice_number.eq(0), full.eq(0)]
        with m.If(take):
            m.d.sync += [values.eq(read.data), place.eq(read_place), full.eq(1)]
        with m.Elif(sums.valid & sums.ready):
            m.d.sync += [values.eq(sums.payload), place.eq(self.sums_row), full.eq(1)]
        return read_full | full, emptied
