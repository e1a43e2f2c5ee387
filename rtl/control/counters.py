"""A core's performance counters and metrics."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.registers import COUNTERS

__all__ = ["SPLITS", "Counters", "Increments"]

#: Number of splits that have metrics: TRAIN, VALIDATION, TEST.
SPLITS = 3
#: Cycles in which every counter has its turn at the memory.
_ROUND = 1 << (len(COUNTERS) - 1).bit_length()


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
    hits, misses : In(32), likewise
        What was predicted correctly and wrongly, see ``Metrics``.
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
            "misses": In(32).array(SPLITS),
            "address": In(range(len(COUNTERS))),
            "data": Out(32),
        })

    def elaborate(self, platform):
        m = Module()
        increments = {name: getattr(self.increments, name)
                      for name in self.increments.signature.members}
        most = max((1 << len(value)) - 1 for value in increments.values())
        # In a round the lower bits of a counter wrap once at most.
        width = (_ROUND * most - 1).bit_length()

        # Lower bits and a carry out of them, by position in COUNTERS.
        low, carry = {}, {}
        position = Signal(range(_ROUND))
        for index, (name, _) in enumerate(COUNTERS):
            if name not in increments:
                continue
            registered = Signal.like(increments[name], name=f"{name}_increment")
            low[index] = bits = Signal(width, name=f"{name}_low")
            carry[index] = carried = Signal(name=f"{name}_carry")
            total = bits + registered
            m.d.sync += [
                registered.eq(increments[name]),
                bits.eq(total),
                carried.eq(total[width] | (carried & (position != index))),
            ]
            with m.If(self.clear):
                m.d.sync += [registered.eq(0), bits.eq(0), carried.eq(0)]

        # The upper bits are in a memory; one counter after the other takes its carry there. Until
        # a counter has had its turn after ``clear``, what is there does not count.
        m.submodules.high = high = Memory(shape=32 - width, depth=_ROUND, init=[])
        own, asked, write = (high.read_port(domain="comb"), high.read_port(domain="comb"),
                             high.write_port())
        round_done = Signal()

        def upper(port):
            kept = Mux(round_done | (port.addr < position), port.data, 0)
            return kept + _listed(carry, 1)[port.addr]

        m.d.comb += [
            own.addr.eq(position),
            write.addr.eq(position),
            write.en.eq(1),
            write.data.eq(upper(own)),
            asked.addr.eq(self.address),
        ]
        m.d.sync += [position.eq(position + 1), round_done.eq(round_done | position.all())]
        with m.If(self.clear):
            m.d.sync += [position.eq(0), round_done.eq(0)]

        names = [name for name, _ in COUNTERS]
        metrics = {}
        for split, name in enumerate(("train", "validation", "test")):
            metrics[names.index(f"loss_{name}")] = self.losses[split][:32]
            metrics[names.index(f"loss_{name}_high")] = self.losses[split][32:]
            metrics[names.index(f"correct_{name}")] = self.hits[split]
            metrics[names.index(f"wrong_{name}")] = self.misses[split]
        m.d.sync += self.data.eq(Cat(_listed(low, width)[self.address], upper(asked)[:32 - width])
                                 | _listed(metrics, 32)[self.address])
        return m


def _listed(values, width):
    """Values by position in COUNTERS; zero where there is none."""
    return Array(values.get(index, Const(0, width)) for index in range(_ROUND))
