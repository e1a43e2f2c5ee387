"""What DRAIN reads from memory: words and their scales, or a mask."""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.lib.unpacker import Unpacker
from hypercast.rtl.vector.ports import WordSource

__all__ = ["DrainReader"]


class DrainReader(wiring.Component):
    """Reads, for each row, whatever the instruction needs.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only when every row of the last run has been taken.
    scaled : In(1)
        Rows have a word and a scale.
    masked : In(1)
        Rows have a mask. Not together with ``scaled``.
    count : In(15)
        Rows.
    channel : In(1), address : In(address_width)
        Where the words are.
    side_address : In(address_width)
        Where the scales or the mask are, in channel 1. All inputs are held during the run.
    primary, secondary : Out(WordSource(config))
        Bring the words, and the scales or the mask.
    o : Out(stream of {word, scale, mask})
        A row's data. If no mask is read, it is all ones; with neither flag, ``o`` is always valid.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "scaled": In(1),
            "masked": In(1),
            "count": In(15),
            "channel": In(1),
            "address": In(config.address_width),
            "side_address": In(config.address_width),
            "primary": Out(WordSource(config)),
            "secondary": Out(WordSource(config)),
            "o": Out(stream.Signature(data.StructLayout({
                "word": unsigned(config.data_width),
                "scale": unsigned(config.element_width),
                "mask": unsigned(config.lanes),
            }))),
        })

    def elaborate(self, platform):
        m = Module()
        config = self._config
        m.submodules.scales = scales = Unpacker(config.word_width, config.element_width)
        m.submodules.masks = masks = Unpacker(config.word_width, config.lanes)

        scale_words = (self.count + (config.scale_rows - 1)) // config.scale_rows
        mask_words = (self.count + (config.mask_rows - 1)) // config.mask_rows
        for source in (self.primary, self.secondary):
            with m.If(source.command.ready):
                m.d.sync += source.command.valid.eq(0)
        with m.If(self.start):
            m.d.sync += [
                self.primary.command.valid.eq(self.scaled),
                self.secondary.command.valid.eq(self.scaled | self.masked),
            ]
        m.d.comb += [
            self.primary.command.p.channel.eq(self.channel),
            self.primary.command.p.address.eq(self.address),
            self.primary.command.p.count.eq(self.count),
            self.secondary.command.p.channel.eq(1),
            self.secondary.command.p.address.eq(self.side_address),
            self.secondary.command.p.count.eq(Mux(self.scaled, scale_words, mask_words)),
        ]

        # The side words go to the unpacker in use; what the last run left over is flushed.
        words = self.secondary.words
        for unpacker in (scales, masks):
            m.d.comb += [unpacker.i.payload.eq(words.payload), unpacker.flush.eq(self.start)]
        m.d.comb += [
            scales.i.valid.eq(words.valid & self.scaled),
            masks.i.valid.eq(words.valid & ~self.scaled),
            words.ready.eq(Mux(self.scaled, scales.i.ready, masks.i.ready)),
        ]

        taken = Signal()
        m.d.comb += [
            self.o.p.word.eq(self.primary.words.payload),
            self.o.p.scale.eq(scales.o.payload),
            self.o.p.mask.eq(masks.o.payload | (~self.masked).replicate(config.lanes)),
            self.o.valid.eq(Mux(self.scaled, self.primary.words.valid & scales.o.valid,
                                ~self.masked | masks.o.valid)),
            taken.eq(self.o.valid & self.o.ready),
            self.primary.words.ready.eq(taken & self.scaled),
            scales.o.ready.eq(taken & self.scaled),
            masks.o.ready.eq(taken & self.masked),
        ]
        return m
