# SPDX-License-Identifier: BSD-2-Clause
"""A FIFO at the end of a pipeline that cannot stall."""

from amaranth.hdl import Module, Shape, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError

__all__ = ["CreditFIFO"]


class CreditFIFO(wiring.Component):
    """Catches what a pipeline without back-pressure produces.

    Whoever feeds the pipeline takes a credit for each payload that will come out of it, and so
    never has more under way than the FIFO has room for.

    Parameters
    ----------
    shape : shape-like
        Shape of a payload.
    depth : int
        Payloads that may be under way or queued, at least 3. To sustain one per cycle it must
        exceed the pipeline's latency by 3.

    Members
    -------
    credit : Out(1)
        There is room for one more payload.
    take : In(1)
        A payload enters the pipeline; only while ``credit``.
    push : In(1), i : In(shape)
        A payload leaves the pipeline.
    o : Out(stream of shape)
        The payloads, in order.

    Raises
    ------
    InputError
        If ``depth`` is below 3: the FIFO's output register could not be filled in time.
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        if depth < 3:
            raise InputError(f"depth must be at least 3, not {depth}")
        self._shape = shape
        self._depth = depth
        super().__init__({
            "credit": Out(1),
            "take": In(1),
            "push": In(1),
            "i": In(shape),
            "o": Out(stream.Signature(shape)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue = queue = SyncFIFOBuffered(
            width=Shape.cast(self._shape).width, depth=self._depth)
        used = Signal(range(self._depth + 1))
        m.d.sync += used.eq(used + self.take - (self.o.valid & self.o.ready))
        m.d.comb += [
            self.credit.eq(used != self._depth),
            queue.w_en.eq(self.push),
            queue.w_data.eq(self.i),
            self.o.valid.eq(queue.r_rdy),
            self.o.payload.eq(queue.r_data),
            queue.r_en.eq(self.o.ready),
        ]
        return m
