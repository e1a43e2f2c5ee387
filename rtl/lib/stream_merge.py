"""Merges several streams into one."""

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

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
    ValueError
        If there is no input.
    """

    def __init__(self, shape, count):
        if count < 1:
            raise ValueError(f"StreamMerge needs at least one input, not {count}")
        self._shape = shape
        self._count = count
        super().__init__({
            "i": In(stream.Signature(shape)).array(count),
            "o": Out(stream.Signature(shape)),
        })

    def elaborate(self, platform):
        m = Module()
        served = Signal(range(self._count), init=self._count - 1)
        choice = Signal(range(self._count))
        some = Signal()

        # The later of two assignments wins: from the lowest priority to the highest.
        with m.Switch(served):
            for last in range(self._count):
                with m.Case(last):
                    for distance in range(self._count, 0, -1):
                        candidate = (last + distance) % self._count
                        with m.If(self.i[candidate].valid):
                            m.d.comb += [choice.eq(candidate), some.eq(1)]

        free = ~self.o.valid | self.o.ready
        for index, source in enumerate(self.i):
            m.d.comb += source.ready.eq(free & source.valid & (choice == index))
        with m.If(free):
            m.d.sync += self.o.valid.eq(some)
            with m.If(some):
                payloads = Array(source.p for source in self.i)
                m.d.sync += [served.eq(choice), self.o.p.eq(payloads[choice])]
        return m
