# SPDX-License-Identifier: BSD-2-Clause
"""Merges several streams into one."""

from amaranth.hdl import Cat, Module, ShapeLike, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError
from hypercast.rtl.lib.round_robin_arbiter import RoundRobinArbiter, one_hot_mux

__all__ = ["StreamMerge"]


class StreamMerge(wiring.Component):
    """Passes on what arrives on any input, round robin: the input served last comes last.

    One transfer per cycle; latency one cycle, the output is registered. ``ready`` of an input
    depends on ``valid`` of all inputs and on ``o.ready``, in the same cycle.

    Parameters
    ----------
    shape : ShapeLike
        Shape of the payload.
    count : int
        Number of inputs, at least 1.

    Members
    -------
    i : array of In(stream of shape)
        Inputs.
    o : Out(stream of shape)
        Output.

    Raises
    ------
    InputError
        If there is no input.
    """

    def __init__(self, shape: ShapeLike, count: int) -> None:
        if count < 1:
            raise InputError(f"StreamMerge needs at least one input, not {count}")
        self._shape = shape
        self._count = count
        super().__init__({
            "i": In(stream.Signature(shape)).array(count),
            "o": Out(stream.Signature(shape)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = arbiter = RoundRobinArbiter(self._count)
        free = ~self.o.valid | self.o.ready
        m.d.comb += [
            arbiter.enable.eq(free),
            arbiter.requests.eq(Cat(source.valid for source in self.i)),
            Cat(source.ready for source in self.i).eq(arbiter.grants),
        ]
        with m.If(free):
            m.d.sync += self.o.valid.eq(arbiter.requests.any())
        with m.If(arbiter.grants.any()):
            payloads = [Value.cast(source.p) for source in self.i]
            m.d.sync += Value.cast(self.o.p).eq(one_hot_mux(arbiter.grants, payloads))
        return m
