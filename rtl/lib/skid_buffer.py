# SPDX-License-Identifier: BSD-2-Clause
"""Cuts the combinational paths of a stream."""

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["SkidBuffer"]


class SkidBuffer(wiring.Component):
    """Passes a stream on; ``i.ready``, ``o.valid`` and ``o.payload`` come straight from registers.

    One transfer per cycle; latency one cycle. Holds up to two payloads.

    Parameters
    ----------
    shape : ShapeLike
        Shape of the payload.

    Members
    -------
    i, o : In(stream of shape), Out(stream of shape)
        Input and output.
    """

    def __init__(self, shape: ShapeLike) -> None:
        super().__init__({
            "i": In(stream.Signature(shape)),
            "o": Out(stream.Signature(shape)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        payload_in, payload_out = Value.cast(self.i.p), Value.cast(self.o.p)
        empty = Signal(init=1)  # ``spare`` holds nothing
        spare = Signal(len(payload_in))
        m.d.comb += self.i.ready.eq(empty)
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += [
                self.o.valid.eq(self.i.valid | ~empty),
                payload_out.eq(Mux(empty, payload_in, spare)),
                empty.eq(1),
            ]
        with m.Elif(self.i.valid & empty):
            m.d.sync += [spare.eq(payload_in), empty.eq(0)]
        return m
