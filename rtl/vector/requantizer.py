# SPDX-License-Identifier: BSD-2-Clause
"""The one rounding of the chip: shift, round half to even, saturate."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError
from hypercast.rtl.isa import SHIFT_WIDTH
from hypercast.rtl.vector.pipeline import delay_by

__all__ = ["Requantizer"]


class Requantizer(wiring.Component):
    """Computes ``arithmetic.requantize`` in every lane; a pipeline that never stalls.

    The first stage shifts by multiples of 8, the second by the rest; both remember whether a one
    was lost (the sticky bit). The third rounds and saturates.

    Parameters
    ----------
    lanes : int
        Values handled together.
    input_width, output_width : int
        Bits of a value before and after, both signed.

    Members
    -------
    i : In(lanes values of input_width)
        Values ``x``.
    shift : In(SHIFT_WIDTH)
        The values are divided by ``2**shift``.
    o : Out(lanes values of output_width)
        Rounded and saturated values of ``LATENCY`` cycles ago.
    saturated : Out(lanes)
        Bit ``l`` is one if lane ``l`` of ``o`` did not fit.

    Raises
    ------
    InputError
        If the output is wider than the input.
    """

    #: Cycles from ``i`` and ``shift`` to ``o`` and ``saturated``.
    LATENCY = 3

    def __init__(self, lanes: int, input_width: int, output_width: int) -> None:
        if output_width > input_width:
            raise InputError(f"output width {output_width} must be at most the input width, "
                             f"{input_width}")
        self._lanes = lanes
        self._input_width = input_width
        self._output_width = output_width
        super().__init__({
            "i": In(data.ArrayLayout(signed(input_width), lanes)),
            "shift": In(SHIFT_WIDTH),
            "o": Out(data.ArrayLayout(signed(output_width), lanes)),
            "saturated": Out(lanes),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        coarse, fine = self.shift[3:], delay_by(m, self.shift[:3], 1)
        for lane in range(self._lanes):
            # Below the integer part there is one bit of fraction, and below that the sticky bit.
            # The integer part may have one bit more than the output, until it is rounded.
            value = Cat(0, self.i[lane])
            sign = value[-1]
            wanted = min(self._output_width + 2, len(value))
            kept = min(wanted + 7, len(value))
            moved, sticky, beyond = Signal(kept), Signal(), Signal()
            m.d.sync += [
                moved.eq(_shift(m, value, coarse, 8, kept)),
                sticky.eq(_below(value, coarse, 8)),
                beyond.eq(_overflows(value, coarse, 8, kept)),
            ]

            quotient, rest = Signal(signed(wanted - 1)), Signal()
            outside, negative = Signal(), Signal()
            both = _shift(m, moved, fine, 1, wanted)
            m.d.sync += [
                quotient.eq(both[1:]),
                rest.eq(both[0] & (sticky | _below(moved, fine, 1) | both[1])),
                outside.eq(beyond | _overflows(moved, fine, 1, wanted)),
                negative.eq(delay_by(m, sign, 1)),
            ]

            rounded = Signal(signed(wanted))
            above = rounded[self._output_width - 1:]
            fits = ~outside & (~above.any() | above.all())
            limit = Cat((~negative).replicate(self._output_width - 1), negative)
            m.d.comb += rounded.eq(quotient + rest)
            m.d.sync += [
                self.o[lane].eq(Mux(fits, rounded[:self._output_width], limit).as_signed()),
                self.saturated[lane].eq(~fits),
            ]
        return m


def _shift(m: Module, value: Value, places: Value, unit: int, width: int) -> Value:
    """``width`` bits of signed ``value`` shifted right by ``places`` (3 bits) times ``unit``.

    The furthest shift comes first: fewer bits then pass the shifts that follow.
    """
    for bit in (2, 1, 0):
        distance = unit << bit
        needed = min(width + distance - unit, len(value))
        extended = Cat(value, value[-1].replicate(distance))
        # A signal of its own: value is used more than once, and expressions would multiply.
        shifted = Signal(needed)
        m.d.comb += shifted.eq(Mux(places[bit], extended[distance:], value))
        value = shifted
    return Cat(value, value[-1].replicate(width - len(value)))


def _below(value: Value, places: Value, unit: int) -> Value:
    """Whether a shift as in ``_shift`` loses ones."""
    return Cat(value[index * unit:(index + 1) * unit].any() & (places > index)
               for index in range(min(7, -(-len(value) // unit)))).any()


def _overflows(value: Value, places: Value, unit: int, width: int) -> Value:
    """Whether the result of a shift as in ``_shift`` takes more than ``width`` bits."""
    above = value[width - 1:-1] ^ value[-1].replicate(len(value) - width)
    return Cat(above[index * unit:(index + 1) * unit].any() & (places <= index)
               for index in range(-(-len(above) // unit))).any()
