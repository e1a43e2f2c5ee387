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
    registers, tapped by diagonals, carries it to all of them.

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
        ``from_side``. Not in the ``loading_distance - 1`` cycles after a ``first``; the next
        ``first`` may come with the last of them.
    result : Out(accumulator_row(config)), result_valid : Out(1)
        Weight-stationary: ``x @ S``, ``latency`` cycles after word ``x``.
    chain : Out(accumulator_row(config))
        Output-stationary: the sums' row ``P - 1``, ``latency`` cycles after a ``first``.
    shift : In(1)
        Brings the next lower row to ``chain`` in the next cycle. All rows wanted must be out before
        the next ``first``.

    Attributes
    ----------
    latency : int
        Cycles from a word to its result, and from a ``first`` to ``chain``.
    loading_distance : int
        Cycles from a ``first`` to the first ``load`` allowed after it.
    """

    def __init__(self, config):
        self._config = config
        self.latency = 2 * config.lanes + 2
        self.loading_distance = 2 * config.lanes - 1
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
            "chain": Out(accumulator_row(config)),
            "shift": In(1),
        })

    def elaborate(self, platform):
        m = Module()
        lanes = self._config.lanes
        cells = [[ProcessingElement(self._config) for _ in range(lanes)] for _ in range(lanes)]

        # ``first`` and ``valid`` of past cycles, bit 0 the youngest.
        firsts = Signal(2 * lanes + 1)
        valids = Signal(self.latency)
        load = Signal()
        m.d.sync += firsts.eq(Cat(self.first, firsts))
        m.d.sync += valids.eq(Cat(self.valid & ~self.gradient, valids))
        m.d.comb += load.eq(self.load | self.gradient)

        for i, row in enumerate(cells):
            for j, cell in enumerate(row):
                m.submodules[f"cell_{i}_{j}"] = cell
                m.d.comb += [
                    cell.gradient.eq(self.gradient),
                    cell.load.eq(load),
                    cell.from_side.eq(self.from_side & ~self.gradient),
                    cell.take.eq(firsts[i + j] | self.gradient),
                    cell.capture.eq(firsts[i + j + 2]),
                    cell.shift.eq(self.shift),
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
            right = _delayed(m, self.right[lane], lane)
            bottom = cells[-1][lane]
            m.d.comb += [
                cells[lane][0].left.eq(_delayed(m, left, lane + 1)),
                cells[lane][0].shadow_left.eq(self.weights[lane]),
                cells[0][lane].shadow_above.eq(Mux(self.gradient, right, self.weights[lane])),
                self.result[lane].eq(_delayed(m, bottom.sum, lanes - 1 - lane)),
                self.chain[lane].eq(bottom.chain),
            ]
        m.d.comb += self.result_valid.eq(valids[-1])
        return m
