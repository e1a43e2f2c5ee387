# SPDX-License-Identifier: BSD-2-Clause
"""A core's performance counters and metrics."""

from collections.abc import Mapping

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.memory import Memory, ReadPort
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.registers import COUNTERS

__all__ = ["SPLITS", "Counters", "Increments"]

#: Number of splits that have metrics: TRAIN, VALIDATION, TEST.
SPLITS = 3


class Increments(wiring.Signature):
    """What to add to each counter in this cycle (seen from the blocks that count).

    One member per counter of ``registers.COUNTERS`` that the core counts, as wide as the most that
    is added to it in a cycle.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({name: Out(range(counter.most(config) + 1))
                          for name, counter in COUNTERS.items()
                          if counter.most and counter.most(config)})


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
    hits, misses : In(32), one each for the splits
        What was predicted correctly and wrongly, see ``Metrics``.
    address : In(log2 counters)
        Position in ``COUNTERS`` to read; anything beyond, or of a dimension not built, is zero.
    data : Out(32)
        What ``address`` named one cycle ago.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "increments": In(Increments(config)),
            "clear": In(1),
            "losses": In(64).array(SPLITS),
            "hits": In(32).array(SPLITS),
            "misses": In(32).array(SPLITS),
            "address": In(range(len(COUNTERS))),
            "data": Out(32),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        increments = {name: getattr(self.increments, name)
                      for name in self.increments.signature.members}
        # In a round every counter has its turn; the lower bits of one wrap once at most.
        round_bits = (len(increments) - 1).bit_length()
        most = max((1 << len(value)) - 1 for value in increments.values())
        width = ((most << round_bits) - 1).bit_length()

        # Lower bits and a carry out of them.
        low, carry = [], []
        turn = Signal(round_bits)
        for index, (name, increment) in enumerate(increments.items()):
            registered = Signal.like(increment, name=f"{name}_increment")
            bits, carried = Signal(width, name=f"{name}_low"), Signal(name=f"{name}_carry")
            total = bits + registered
            low.append(bits)
            carry.append(carried)
            m.d.sync += [
                registered.eq(increment),
                bits.eq(total),
                carried.eq(total[width] | (carried & (turn != index))),
            ]
            with m.If(self.clear):
                m.d.sync += [registered.eq(0), bits.eq(0), carried.eq(0)]

        # The upper bits are in a memory; one counter after the other takes its carry there. Until
        # a counter has had its turn after ``clear``, what is there does not count.
        m.submodules.high = high = Memory(shape=32 - width, depth=1 << round_bits, init=[])
        own, asked, write = (high.read_port(domain="comb"), high.read_port(domain="comb"),
                             high.write_port())
        round_done = Signal()

        def upper(port: ReadPort) -> Value:
            kept = Mux(round_done | (port.addr < turn), port.data, 0)
            return kept + Array(carry)[port.addr]

        turns = {name: index for index, name in enumerate(increments)}
        metrics = {}
        for split, name in enumerate(("train", "validation", "test")):
            metrics[f"loss_{name}"] = self.losses[split][:32]
            metrics[f"loss_{name}_high"] = self.losses[split][32:]
            metrics[f"correct_{name}"] = self.hits[split]
            metrics[f"wrong_{name}"] = self.misses[split]

        def listed(values: Mapping[str, ValueLike]) -> Value:
            """The value of the counter that is asked for; zero where there is none."""
            beyond = (1 << len(self.address)) - len(COUNTERS)
            return Array([*(values.get(name, 0) for name in COUNTERS), *[0] * beyond])[self.address]

        m.d.comb += [
            own.addr.eq(turn),
            write.addr.eq(turn),
            write.en.eq(1),
            write.data.eq(upper(own)),
            asked.addr.eq(listed(turns)),
        ]
        m.d.sync += [turn.eq(turn + 1), round_done.eq(round_done | turn.all())]
        with m.If(self.clear):
            m.d.sync += [turn.eq(0), round_done.eq(0)]

        counter = Cat(Array(low)[asked.addr], upper(asked)[:32 - width])
        m.d.sync += self.data.eq(Mux(listed(dict.fromkeys(turns, 1)), counter, listed(metrics)))
        return m
