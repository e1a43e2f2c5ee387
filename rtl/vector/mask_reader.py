# SPDX-License-Identifier: BSD-2-Clause
"""The mask that DRAIN reads from memory."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import STRIP_WIDTH
from hypercast.rtl.lib.burst_reader import WordSource
from hypercast.rtl.lib.unpacker import Unpacker

__all__ = ["MaskReader"]


class MaskReader(wiring.Component):
    """Reads the mask of each row, if the instruction needs it.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only when every row of the last run has been taken.
    masked : In(1)
        Rows have a mask.
    count : In(STRIP_WIDTH)
        Rows.
    address : In(address_width)
        Where the mask is, in channel 1. All inputs are held during the run.
    source : Out(WordSource(config))
        Brings the mask.
    o : Out(stream of lanes bits)
        A row's mask. If none is read, ``o`` is all ones and always valid.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "masked": In(1),
            "count": In(STRIP_WIDTH),
            "address": In(config.address_width),
            "source": Out(WordSource(config)),
            "o": Out(stream.Signature(config.lanes)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.masks = masks = Unpacker(config.word_width, config.lanes)

        command, words = self.source.command, self.source.words
        with m.If(command.ready):
            m.d.sync += command.valid.eq(0)
        with m.If(self.start):
            m.d.sync += command.valid.eq(self.masked)
        m.d.comb += [
            command.p.channel.eq(1),
            command.p.address.eq(self.address),
            command.p.count.eq((self.count + (config.mask_rows - 1)) // config.mask_rows),
            masks.i.valid.eq(words.valid),
            masks.i.payload.eq(words.payload),
            masks.flush.eq(self.start),  # what the last run left over
            words.ready.eq(masks.i.ready),
            self.o.payload.eq(masks.o.payload | (~self.masked).replicate(config.lanes)),
            self.o.valid.eq(~self.masked | masks.o.valid),
            masks.o.ready.eq(self.o.ready & self.masked),
        ]
        return m
