"""The dual-mode systolic array."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.processing_element import ProcessingElement
from hypercast.rtl.layouts import accumulator_row

__all__ = ["SystolicArray"]


def _delayed(m, value, cycles):
    """``value`` after ``cycles`` registers."""
    for _ in range(cycles):
        register = Signal(value.shape())
        m.d.sync += register.eq(value)
        value = register
    return value


class SystolicArray(wiring.Component):
    """``P`` by ``P`` processing elements with skewed edges, so that whole words go in and out.

    Weight-stationary, a word ``x`` leaves as ``x @ S``, where ``S`` is the tile of weights that was
    loaded before the last ``first``. Output-stationary (``gradient``), cell (i, j) adds up
    ``left[i] * right[j]`` over the words of a tile; the ``first`` of the next tile captures the
    sums in a chain of registers, which leaves by rows, row ``P - 1`` first. Words may come with
    gaps. The two modes are those of Gemmini's array (Genc et al., DAC 2021).

    A ``first`` reaches cell (i, j) ``i + j`` cycles after cell (0, 0), with its word. One line of
    registers, tapped by diagonals, carries it to all of them. Loading follows it in the same slant:
    column j (with ``from_side``, row j) is loaded ``j`` cycles after column 0, and the cells of row
    i keep still until the row they are to hold, or one below, comes by. So a tile can be loaded
    right behind the ``first`` of the one before. The chain's columns move in that slant, too.

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
        A tile begins with this cycle, whether or not it holds a word.
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
        Valid with ``result_valid`` or ``sums_valid``.
    result_valid : Out(1)
        Weight-stationary: ``x @ S``, ``latency`` cycles after word ``x``.
    shift : In(1)
        Output-stationary: takes a row of sums out of the chain. ``shift_distance`` cycles after a
        ``first`` or later, and at most ``shift_overlap`` cycles after the next one.
    sums_valid : Out(1)
        A row of sums, ``P - 1`` cycles after its ``shift``.

    Attributes
    ----------
    latency : int
        Cycles from a word to its result.
    shift_distance : int
        Cycles from a ``first`` to the first ``shift`` of the sums that it ended.
    shift_overlap : int
        Cycles from a ``first`` to the last ``shift`` of the sums before.
    """

    def __init__(self, config):
        self._config = config
        self.latency = 2 * config.lanes + 2
        self.shift_distance = config.lanes + 3
        self.shift_overlap = 3
        word = data.ArrayLayout(signed(config.element_width), config.lanes)
        super().__init__({
            "gradient": In(1),
            "valid": In(1),
            "first": In(1),
            "left": In(word),
            "right": In(word),
            "load": In(1),
            "from_side": In(1),
            "weights": In(word),
            "result": Out(accumulator_row(config)),
            "result_valid": Out(1),
            "shift": In(1),
            "sums_valid": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        lanes = self._config.lanes
        cells = [[ProcessingElement(self._config) for _ in range(lanes)] for _ in range(lanes)]

        # Strobes of past cycles, bit 0 the youngest; of ``shifts``, bit 0 is the present one.
        firsts = Signal(2 * lanes + 1)
        valids = Signal(self.latency)
        shifts = Cat(self.shift, Signal(lanes - 1, name="shifts"))
        m.d.sync += [
            firsts.eq(Cat(self.first, firsts)),
            valids.eq(Cat(self.valid & ~self.gradient, valids)),
            shifts[1:].eq(shifts),
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
                    cell.capture.eq(firsts[i + j + 2]),
                    cell.shift.eq(shifts[j]),
                ]
                if i > 0:
                    above = cells[i - 1][j]
                    m.d.comb += [
                        cell.shadow_above.eq(above.shadow),
                        cell.sum_above.eq(above.sum),
                        cell.chain_above.eq(above.chain),
                    ]
                if j > 0:
                    m.d.comb += [
                        cell.left.eq(row[j - 1].right),
                        cell.shadow_left.eq(row[j - 1].shadow),
                    ]

        # The left operand starts a cycle after the right one, which passes a shadow register first.
        for lane in range(lanes):
            left = Mux(self.valid, self.left[lane], 0)
            down = _delayed(m, Mux(self.gradient, self.right[lane], self.weights[lane]), lane)
            bottom = cells[-1][lane]
            out = Mux(self.gradient, bottom.chain, bottom.sum)
            m.d.comb += [
                cells[lane][0].left.eq(_delayed(m, left, lane + 1)),
                cells[lane][0].shadow_left.eq(down),
                cells[0][lane].shadow_above.eq(down),
                self.result[lane].eq(_delayed(m, out, lanes - 1 - lane)),
            ]
        m.d.comb += [self.result_valid.eq(valids[-1]), self.sums_valid.eq(shifts[-1])]
        return m

    def _loads(self, m):
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
