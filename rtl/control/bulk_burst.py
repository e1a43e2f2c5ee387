# SPDX-License-Identifier: BSD-2-Clause
"""A burst of the bulk port: what its address names, and whether it may be."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import BEAT_WIDTH
from hypercast.rtl.memory.axi4 import Axi4
from hypercast.rtl.registers import Space

__all__ = ["BEATS_WIDTH", "BEAT_PLACE", "BulkAxi", "BulkBurst"]

#: Bytes of a beat, as a logarithm.
_SIZE = (BEAT_WIDTH // 8).bit_length() - 1
_INCR = 1
_ADDRESS_WIDTH = 64

#: Bits of a beat's number in a core's space.
BEATS_WIDTH = 29 - _SIZE
#: Above a byte in a beat, an address as ``registers.bulk_address`` gives it, and one as
#: ``registers.striped_address`` does; ``striped`` is at the same place in both.
_PLAIN = data.StructLayout({"beat": BEATS_WIDTH, "space": 3, "core": 6, "striped": 1})
_STRIPED = data.StructLayout({"beat": 37 - _SIZE, "gradients": 1, "striped": 1})
#: Where a beat belongs: core, space, and number of the beat in it. Of a striped burst it is the
#: number in the space of all cores, and the core is 0.
BEAT_PLACE = data.StructLayout({"beat": 37 - _SIZE, "space": 3, "core": 6, "striped": 1})


class BulkAxi(Axi4):
    """AXI4 of the bulk port: 128 bits, byte addresses of 64 bits, IDs of 4."""

    def __init__(self) -> None:
        super().__init__(_ADDRESS_WIDTH, BEAT_WIDTH, id_width=4)


class BulkBurst(wiring.Component):
    """Takes the address of a burst apart. Combinational.

    Allowed are bursts INCR of full beats that stay within a memory channel or the weight bank of a
    core, or that are striped over all cores and stay within their channels.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    address, length, size, burst : In(64), In(8), In(3), In(2)
        As in AXI4. The low four bits of the address do not matter.
    place : Out(BEAT_PLACE)
        The first beat's.
    allowed : Out(1)
        Whether it is.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "address": In(_ADDRESS_WIDTH), "length": In(8), "size": In(3), "burst": In(2),
            "place": Out(BEAT_PLACE), "allowed": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, place = self._config, self.place
        named, above = self.address[_SIZE:][:_PLAIN.size], self.address[_SIZE:][_PLAIN.size:]
        plain, striped = data.View(_PLAIN, named), data.View(_STRIPED, named)
        last = Signal(len(place.beat) + 1)

        def beats(words: int) -> int:
            return words * config.word_width // BEAT_WIDTH

        bank = place.space == Space.WEIGHTS
        channels = Mux(place.striped, beats(config.cores * config.channel_words),
                       beats(config.channel_words))
        m.d.comb += [
            place.striped.eq(plain.striped),
            place.beat.eq(Mux(place.striped, striped.beat, plain.beat)),
            place.space.eq(Mux(
                place.striped, Mux(striped.gradients, Space.GRADIENTS, Space.FEATURES),
                plain.space)),
            place.core.eq(Mux(place.striped, 0, plain.core)),
            last.eq(place.beat + self.length),
            self.allowed.eq(
                (above == 0) & (place.core < config.cores)
                & (bank | (place.space == Space.FEATURES) | (place.space == Space.GRADIENTS))
                & (last < Mux(bank, beats(config.weight_rows), channels))
                & (self.size == _SIZE) & (self.burst == _INCR)),
        ]
        return m
