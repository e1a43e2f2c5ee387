# SPDX-License-Identifier: BSD-2-Clause
"""Sends finished weight gradients from the systolic array to the cores that own their rows."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory, ReadPort
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.config import Config
from hypercast.rtl.isa import DIGITS_WIDTH, ROWS_WIDTH
from hypercast.rtl.layouts import FlitKind, accumulator_row, flit

__all__ = ["GradientSender"]


class GradientSender(wiring.Component):
    """Cuts the rows of finished tiles into digits, one REDUCE flit each.

    Row ``i`` of the ``k``-th tile is reduction row ``R = first_row + k * P + i``; with
    ``ones``, only row 0 of each tile is sent, as ``R = first_row + k``. It goes to core
    ``R mod N``, accumulator row ``R div N``, the lowest digit first, one flit per cycle. An
    accumulator's digit is its low ``E`` bits, read as signed; what is left is ``(a - digit) >> E``.

    All cores finish a tile at about the same time. So that they do not all send to one owner, the
    ``n``-th row sent is row ``n XOR core`` (modulo ``P``): to owners that are, for all of them, in
    the same place relative to their own, so that flits do not meet on their way either. If there
    are more cores than rows, cores that send the same rows begin with planes of their own; all take
    the planes in turn, so that flits spread over an owner's ejection ports.

    ``column_sums``, a row on its own, is there before the first tile has left the array, and goes
    first.

    A buffer of a few tiles lets the array go on while rows are sent: a tile is sent when all of it
    is there.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1), first_row : In(ROWS_WIDTH)
        The next tile that ends begins with reduction row ``first_row``; later tiles follow. Only
        while not ``busy``.
    sums_row : In(ROWS_WIDTH)
        Reduction row of ``column_sums``; held while ``busy``.
    ones : In(1), digits : In(DIGITS_WIDTH)
        Whether only row 0 is sent, and the digits of an accumulator, 1 to ``config.digits``; held
        while ``busy``.
    core : In(dimensions)
        Address of this core.
    first : In(1)
        The array's ``first``. Only while ``free``.
    closes : In(1)
        The array's ``closes``: rows of sums will come.
    free : Out(1)
        The array may begin with the next tile, and there will be room for the one that ends.
    sums : In(accumulator_row(config)), sums_valid : In(1)
        The rows.
    column_sums : In(stream of accumulator_row(config))
        A row to be sent besides; comes soon after the first ``closes``.
    flits : Out(stream of flit(config))
        The REDUCE flits.
    busy : Out(1)
        High from the cycle after ``closes``, and with ``column_sums``, until the last flit is
        taken.
    """

    #: Rows that the buffer holds, unless four tiles have less: they fit a distributed RAM.
    _ROWS = 32

    def __init__(self, config: Config) -> None:
        self._config = config
        self._tiles = min(4, self._ROWS // config.lanes)
        super().__init__({
            "start": In(1),
            "first_row": In(ROWS_WIDTH),
            "sums_row": In(ROWS_WIDTH),
            "ones": In(1),
            "digits": In(DIGITS_WIDTH),
            "core": In(config.dimensions),
            "first": In(1),
            "closes": In(1),
            "free": Out(1),
            "sums": In(accumulator_row(config)),
            "sums_valid": In(1),
            "column_sums": In(stream.Signature(accumulator_row(config))),
            "flits": Out(stream.Signature(flit(config))),
            "busy": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = self._config.lanes
        m.submodules.buffer = buffer = Memory(
            shape=len(self.sums.as_value()), depth=self._tiles * lanes, init=[])
        coming = Signal(range(self._tiles + 1))  # tiles on the way to the buffer, or in it
        complete = Signal.like(coming)           # tiles of which all rows are in it
        wait = Signal(range(lanes))              # until the array may begin with a tile
        write = buffer.write_port()
        sending, emptied = self._send(m, buffer.read_port(), complete != 0)
        whole = self.sums_valid & write.addr[:exact_log2(lanes)].all()
        m.d.comb += [
            self.free.eq((wait == 0) & (coming != self._tiles)),
            self.busy.eq((coming != 0) | sending | self.column_sums.valid),
            write.en.eq(self.sums_valid),
            write.data.eq(self.sums),
        ]
        with m.If(self.first):
            m.d.sync += wait.eq(lanes - 1)
        with m.Elif(wait != 0):
            m.d.sync += wait.eq(wait - 1)
        m.d.sync += [
            write.addr.eq(write.addr + self.sums_valid),
            coming.eq(coming + self.closes - emptied),
            complete.eq(complete + whole - emptied),
        ]
        return m

    def _send(self, m: Module, read: ReadPort, tile_there: Value) -> tuple[Value, Signal]:
        """Bring rows from the buffer to its output register, to ``values``, and to the network.

        Returns that a row is on this way, and that a tile's last row leaves the buffer.
        """
        config, flits, sums = self._config, self.flits, self.column_sums
        width, lanes = config.element_width, config.lanes
        row_bits = exact_log2(lanes)
        tile, row = Signal(range(self._tiles)), Signal(row_bits)
        count = Signal(row_bits)  # rows read
        first = Signal(ROWS_WIDTH)  # reduction row of the tile's row 0
        # Reduction rows of ``read.data`` and ``values``.
        read_place, place = Signal(ROWS_WIDTH), Signal(ROWS_WIDTH)
        read_full, full = Signal(), Signal()
        values = Signal(data.ArrayLayout(signed(config.accumulator_width), lanes))
        digit, turn = Signal.like(flits.p.digit), Signal.like(flits.p.plane)
        sent, done, take, emptied = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            sent.eq(flits.valid & flits.ready),
            done.eq(sent & (digit == self.digits - 1)),
            take.eq(read_full & (~full | done)),
            row.eq(Mux(self.ones, 0, count ^ self.core)),
            read.addr.eq(Cat(row, tile)),
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
            m.d.sync += [tile.eq(tile + 1), count.eq(0), first.eq(first + Mux(self.ones, 1, lanes))]

        owner = place[:config.dimensions]
        m.d.comb += [
            flits.valid.eq(full),
            flits.p.destinations.eq(Const(1) << (owner ^ self.core)),
            flits.p.plane.eq(turn + self.core[row_bits:]),
            flits.p.kind.eq(FlitKind.REDUCE),
            flits.p.digit.eq(digit),
            flits.p.index.eq(place[config.dimensions:]),
            flits.p.payload.eq(Cat(value[:width] for value in values)),
        ]
        with m.If(sent):
            m.d.sync += [digit.eq(digit + 1), turn.eq(turn + 1)]
            for value in values:
                m.d.sync += value.eq((value >> width) + value[width - 1])
        with m.If(done):
            m.d.sync += [digit.eq(0), full.eq(0)]
        with m.If(take):
            m.d.sync += [values.eq(read.data), place.eq(read_place), full.eq(1)]
        with m.Elif(sums.valid & sums.ready):
            m.d.sync += [values.eq(sums.payload), place.eq(self.sums_row), full.eq(1)]
        return read_full | full, emptied
