"""A core's performance counters and metrics."""

from amaranth.hdl import Array, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.registers import COUNTERS

__all__ = ["SPLITS", "Counters", "Increments"]

#: Number of splits that have metrics: TRAIN, VALIDATION, TEST.
SPLITS = 3


class Increments(wiring.Signature):
    """What to add to each counter in this cycle (seen from the blocks that count).

    One member per counter of ``registers.COUNTERS`` that counts events of the core: ``edges`` and
    ``edge_starved`` are as wide as up to ``eject`` events a cycle need, ``saturations`` as wide
    as ``3 * lanes``, all others Out(1). There is a ``link_d`` for each of the ``dimensions``.
    """

    def __init__(self, config):
        links = [f"link_{dimension}" for dimension in range(config.dimensions)]
        super().__init__({
            **{name: Out(1) for name in (
                "sent", "send_blocked", "array_words", "array_starved", "array_blocked",
                "vector_words", "vector_starved", "vector_blocked", "features_read",
                "features_written", "gradients_read", "gradients_written", "link_faults",
                *links)},
            "edges": Out(range(config.eject + 1)),
            "edge_starved": Out(range(config.eject + 1)),
            "saturations": Out(range(3 * config.lanes + 1)),
        })


class Counters(wiring.Component):
    """32-bit counters, which wrap, and the vector unit's metrics, read as ``COUNTERS`` lists them.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    increments : In(Increments(config))
        Added two cycles later.
    clear : In(1)
        Sets all counters to zero; what arrives in this cycle is not counted.
    losses : In(64), one each for the splits TRAIN, VALIDATION, TEST
        Summed losses; the vector unit keeps and clears them.
    hits : In(32), likewise
        Vertices classified correctly.
    address : In(log2 counters)
        Position in ``COUNTERS`` to read; anything beyond, or of a dimension not built, is zero.
    data : Out(32)
        What ``address`` named one cycle ago.
    """

    def __init__(self, config):
        super().__init__({
            "increments": In(Increments(config)),
            "clear": In(1),
            "losses": In(64).array(SPLITS),
            "hits": In(32).array(SPLITS),
            "address": In(range(len(COUNTERS))),
            "data": Out(32),
        })

    def elaborate(self, platform):
        m = Module()
        values = {}
        for name in self.increments.signature.members:
            increment = getattr(self.increments, name)
            registered = Signal.like(increment, name=f"{name}_increment")
            values[name] = counter = Signal(32, name=name)
            with m.If(self.clear):
                m.d.sync += [registered.eq(0), counter.eq(0)]
            with m.Else():
                m.d.sync += [registered.eq(increment), counter.eq(counter + registered)]
        for split, name in enumerate(("train", "validation", "test")):
            values[f"loss_{name}"] = self.losses[split][:32]
            values[f"loss_{name}_high"] = self.losses[split][32:]
            values[f"correct_{name}"] = self.hits[split]
        listed = Array(values.get(name, Const(0, 32)) for name, _ in COUNTERS)
        m.d.sync += self.data.eq(listed[self.address])
        return m
