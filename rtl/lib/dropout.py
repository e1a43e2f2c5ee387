# SPDX-License-Identifier: BSD-2-Clause
"""Dropout decisions, hashed from (key, vertex, feature); see ``arithmetic.keep_mask``."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import KEY_WIDTH, PANELS_WIDTH, THRESHOLD_WIDTH

__all__ = ["Dropout"]

#: Constants of the rounds (the first 32-bit words of the fraction of pi).
_ROUND_CONSTANTS = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344,
                    0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89)
#: How many rounds mix the vertex, shared by all lanes; the rest mix the group of features.
_VERTEX_ROUNDS = 3
#: Features that share a chain of rounds, 16 bits each.
_GROUP = 4


class Dropout(wiring.Component):
    """Tells which features of a panel of one vertex dropout keeps, one vertex per cycle.

    Each stage is one add-rotate-xor round on 2 x 32 bits: first the vertex rounds, which all lanes
    share, then a chain of rounds for every group of four lanes; the last stage compares with the
    threshold.

    Parameters
    ----------
    config : Config
        ``lanes`` features are decided together.

    Members
    -------
    enable : In(1)
        Advances the pipeline; while low, ``keep`` is held.
    key : In(KEY_WIDTH)
        The layer's key plus the step key.
    threshold : In(THRESHOLD_WIDTH)
        An element is dropped with probability ``threshold / 65536``; 0 keeps all.
    rank : In(32)
        The vertex.
    panel : In(PANELS_WIDTH)
        Lane ``l`` decides on feature ``panel * lanes + l``.
    keep : Out(lanes)
        Bit ``l`` is one if lane ``l`` is kept; for the inputs ``LATENCY`` enabled cycles ago.
    """

    #: Enabled cycles from the inputs to ``keep``.
    LATENCY = len(_ROUND_CONSTANTS) + 1

    def __init__(self, config: Config) -> None:
        self._lanes = config.lanes
        super().__init__({
            "enable": In(1),
            "key": In(KEY_WIDTH),
            "threshold": In(THRESHOLD_WIDTH),
            "rank": In(32),
            "panel": In(PANELS_WIDTH),
            "keep": Out(config.lanes),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()

        def register(value: Value) -> Signal:
            delayed = Signal.like(value)
            with m.If(self.enable):
                m.d.sync += delayed.eq(value)
            return delayed

        def mix(a: Value, b: Value, constant: int) -> tuple[Signal, Signal]:
            next_a = Signal(32)
            m.d.comb += next_a.eq((a.rotate_right(8) + b) ^ constant)
            return register(next_a), register(b.rotate_left(3) ^ next_a)

        a, b, panel, threshold = self.rank, self.key, self.panel, self.threshold
        for constant in _ROUND_CONSTANTS[:_VERTEX_ROUNDS]:
            a, b = mix(a, b, constant)
            panel, threshold = register(panel), register(threshold)

        halves = []
        for first_lane in range(0, self._lanes, _GROUP):
            group = Signal(16)
            m.d.comb += group.eq((panel * self._lanes + first_lane) >> 2)
            # Shifted left by 24 within 32 bits, only the low byte of the group is left.
            group_a, group_b = Signal(32), Signal(32)
            m.d.comb += [
                group_a.eq(a ^ Cat(group, group)),
                group_b.eq(b ^ (group << 8) ^ ((group & 0xFF) << 24)),
            ]
            for constant in _ROUND_CONSTANTS[_VERTEX_ROUNDS:]:
                group_a, group_b = mix(group_a, group_b, constant)
            halves += [group_b[:16], group_b[16:], group_a[:16], group_a[16:]]

        odd = panel[0]
        for _ in _ROUND_CONSTANTS[_VERTEX_ROUNDS:]:
            threshold, odd = register(threshold), register(odd)
        if self._lanes < _GROUP:  # two lanes are the first or the second half of a group
            halves = [Mux(odd, second, first)
                      for first, second in zip(halves[:2], halves[2:], strict=True)]
        with m.If(self.enable):
            m.d.sync += self.keep.eq(Cat(half >= threshold for half in halves))
        return m
