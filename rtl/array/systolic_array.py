# SPDX-License-Identifier: BSD-2-Clause
"""The dual-mode systolic array."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.array.processing_element import ProcessingElement
from hypercast.rtl.array.tile_sums import TileSums
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import accumulator_row
from hypercast.rtl.limits import array_cycles

__all__ = ["SystolicArray"]


def _delay(m: Module, value: Value, cycles: int) -> Value:
    """``value`` after ``cycles`` registers."""
    for _ in range(cycles):
        register = Signal(value.shape())
        m.d.sync += register.eq(value)
        value = register
    return value


def _choose(m: Module, values: list[Value], choice: Value) -> Value:
    """``values[choice]``, of a power of two of them; a register after every choice among four."""
    while len(values) > 1:
        for bit in choice[:2]:
            values = [Mux(bit, odd, even)
                      for even, odd in zip(values[::2], values[1::2], strict=True)]
        values = [_delay(m, value, 1) for value in values]
        choice = _delay(m, choice[2:], 1)
    return values[0]


class SystolicArray(wiring.Component):
    """``P`` by ``P`` processing elements with skewed edges, so that whole words go in and out.

    Weight-stationary, a word ``x`` leaves as ``x @ S``, where ``S`` is the tile of weights that was
    loaded before the last ``first``. Output-stationary (``gradient``), cell (i, j) adds up
    ``left[i] * right[j]`` over the words of a tile. Words may come with gaps. The two modes are
    taken from Gemmini's array (Genc et al., DAC 2021).

    A ``first`` reaches cell (i, j) ``i + j`` cycles after cell (0, 0), with its word. One line of
    registers, tapped by diagonals, carries it to all of them. Loading follows it in the same slant:
    column j (with ``from_side``, row j) is loaded ``j`` cycles after column 0, and the cells of row
    i keep still until the row they are to hold, or one below, comes by. So a tile can be loaded
    right behind the ``first`` of the one before.

    Because of the slant the sums of a column are finished one per cycle, from the top: its
    multiplexer takes each in the only cycle in which it is there, and no cell needs a register to
    keep it. Cells are never cleared either, ``TileSums`` subtracts what they began with.

    Parameters
    ----------
    config : Config
        Gives ``lanes`` (P), ``element_width`` (E) and ``accumulator_width``.

    Members
    -------
    gradient : In(1)
        Output-stationary. Changes only ``latency`` cycles or more after the last word or ``first``.
    valid : In(1)
        ``left`` and ``right`` hold a word.
    first : In(1)
        A tile begins with this cycle, whether or not it holds a word. Output-stationary, ``P``
        cycles or more after the one before.
    closes : In(1)
        Output-stationary, with ``first``: the sums of the tile that ends here are wanted.
    left : In(P elements)
        Operand whose element ``i`` goes along row ``i``.
    right : In(P elements)
        Operand whose element ``j`` goes down column ``j``; output-stationary only.
    load : In(1), from_side : In(1), weights : In(P elements)
        Weight-stationary: shifts ``weights`` into the shadow registers, ``P`` words a tile, the one
        numbered ``P - 1`` first. Word ``i`` becomes row ``i`` of ``S``, or column ``i`` with
        ``from_side``. After a ``first``, and not with it; the next ``first`` may come with the last
        of them.
    result : Out(accumulator_row(config))
        Weight-stationary: ``x @ S``, ``latency`` cycles after word ``x``.
    result_valid : Out(1)
        ``result`` is one.
    sums : Out(accumulator_row(config))
        Output-stationary: row 0 of a tile's sums, ``sums_latency`` cycles after ``closes``, and the
        other rows in the cycles that follow.
    sums_valid : Out(1)
        ``sums`` is one.

    Attributes
    ----------
    latency : int
        Cycles from a word to its result.
    sums_latency : int
        Cycles from a ``closes`` to the first row of sums.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._choices = -(-exact_log2(config.lanes) // 2)  # cycles of a column's multiplexer
        self.latency = array_cycles(config) + self._choices
        self.sums_latency = config.lanes + 3 + self._choices
        word = data.ArrayLayout(signed(config.element_width), config.lanes)
        super().__init__({
            "gradient": In(1),
            "valid": In(1),
            "first": In(1),
            "closes": In(1),
            "left": In(word),
            "right": In(word),
            "load": In(1),
            "from_side": In(1),
            "weights": In(word),
            "result": Out(accumulator_row(config)),
            "result_valid": Out(1),
            "sums": Out(accumulator_row(config)),
            "sums_valid": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = self._config.lanes
        cells = [[ProcessingElement(self._config) for _ in range(lanes)] for _ in range(lanes)]

        # Strobes of past cycles, bit 0 the youngest.
        firsts = Signal(2 * lanes - 1)
        valids = Signal(self.latency)
        m.d.sync += [
            firsts.eq(Cat(self.first, firsts)),
            valids.eq(Cat(self.valid & ~self.gradient, valids)),
        ]
        loads = self._loads(m)

        for i, row in enumerate(cells):
            for j, cell in enumerate(row):
                m.submodules[f"cell_{i}_{j}"] = cell
                m.d.comb += [
                    cell.gradient.eq(self.gradient),
                    cell.load.eq(Mux(self.from_side, loads[j][i], loads[i][j]) | self.gradient),
                    cell.from_side.eq(self.from_side & ~self.gradient),
                    cell.take.eq(firsts[i + j] | self.gradient),
                ]
                if i > 0:
                    above = cells[i - 1][j]
                    m.d.comb += [
                        cell.shadow_above.eq(above.shadow),
                        cell.sum_above.eq(above.sum),
                    ]
                if j > 0:
                    m.d.comb += [
                        cell.left.eq(row[j - 1].right),
                        cell.shadow_left.eq(row[j - 1].shadow),
                    ]

        # The row that is finished, in column 0; weight-stationary, results leave the last one.
        finished = Signal(exact_log2(lanes))
        m.d.sync += finished.eq(
            Mux(self.gradient, Mux(firsts[1], 0, finished + 1), lanes - 1))

        # The left operand starts a cycle after the right one, which passes a shadow register first.
        for lane in range(lanes):
            left = Mux(self.valid, self.left[lane], 0)
            down = _delay(m, Mux(self.gradient, self.right[lane], self.weights[lane]), lane)
            out = _choose(m, [row[lane].sum for row in cells], _delay(m, finished, lane))
            m.d.comb += [
                cells[lane][0].left.eq(_delay(m, left, lane + 1)),
                cells[lane][0].shadow_left.eq(down),
                cells[0][lane].shadow_above.eq(down),
                self.result[lane].eq(_delay(m, out, lanes - 1 - lane)),
            ]
        m.d.comb += self.result_valid.eq(valids[-1])

        m.submodules.tile_sums = tile_sums = TileSums(self._config)
        ended = _delay(m, Cat(self.first & self.gradient, self.closes),
                       self.sums_latency - TileSums.LATENCY)
        m.d.comb += [
            Cat(tile_sums.start, tile_sums.wanted).eq(ended),
            tile_sums.row.eq(self.result),
            self.sums.eq(tile_sums.sums),
            self.sums_valid.eq(tile_sums.sums_valid),
        ]
        return m

    def _loads(self, m: Module) -> list[Value]:
        """``loads[i][j]``: cell (i, j) is to load from above; with ``from_side``, cell (j, i)."""
        lanes = self._config.lanes
        count = Signal(range(lanes))  # words of the tile that have come
        with m.If(self.load):
            m.d.sync += count.eq(count + 1)
        loads = []
        for i in range(lanes):
            past = Signal(lanes - 1, name=f"loads_{i}")
            line = Cat(self.load & (count >= i), past)
            m.d.sync += past.eq(line)
            loads.append(line)
        return loads
