"""The one rounding of the chip: shift, round half to even, saturate."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.vector.pipeline import delayed

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
    shift : In(6)
        The values are divided by ``2**shift``.
    o : Out(lanes values of output_width)
        Rounded and saturated values of ``LATENCY`` cycles ago.
    saturated : Out(lanes)
        Bit ``l`` is one if lane ``l`` of ``o`` did not fit.

    Raises
    ------
    ValueError
        If the output is wider than the input.
    """

    #: Cycles from ``i`` and ``shift`` to ``o`` and ``saturated``.
    LATENCY = 3

    def __init__(self, lanes, input_width, output_width):
        if output_width > input_width:
            raise ValueError(f"output width {output_width} must be at most the input width, "
                             f"{input_width}")
        self._lanes = lanes
        self._input_width = input_width
        self._output_width = output_width
        super().__init__({
            "i": In(data.ArrayLayout(signed(input_width), lanes)),
            "shift": In(6),
            "o": Out(data.ArrayLayout(signed(output_width), lanes)),
            "saturated": Out(lanes),
        })

    def elaborate(self, platform):
        m = Module()
        coarse, fine = self.shift[3:], delayed(m, self.shift[:3], 1)
        for lane in range(self._lanes):
            # Below the integer part there is one bit of fraction, and below that the sticky bit.
            value = Cat(0, self.i[lane]).as_signed()
            bytes_lost = Cat(value[low:low + 8].any() & (coarse > low // 8)
                             for low in range(0, min(len(value), 56), 8))
            shifted, sticky = Signal.like(value), Signal()
            m.d.sync += [shifted.eq(value >> (coarse << 3)), sticky.eq(bytes_lost.any())]

            bits_lost = Cat(shifted[bit] & (fine > bit) for bit in range(7))
            quotient, rest = Signal(signed(self._input_width)), Signal()
            both = Signal.like(value)
            m.d.comb += both.eq(shifted >> fine)
            m.d.sync += [
                quotient.eq(both[1:].as_signed()),
                rest.eq(both[0] & (sticky | bits_lost.any() | both[1])),
            ]

            rounded = Signal(signed(self._input_width + 1))
            above = rounded[self._output_width - 1:]
            fits = ~above.any() | above.all()
            limit = Cat((~rounded[-1]).replicate(self._output_width - 1), rounded[-1])
            m.d.comb += rounded.eq(quotient + rest)
            m.d.sync += [
                self.o[lane].eq(Mux(fits, rounded[:self._output_width], limit).as_signed()),
                self.saturated[lane].eq(~fits),
            ]
        return m
