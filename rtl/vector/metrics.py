"""Sums of losses and counts of hits, per split."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl import isa

__all__ = ["Metrics"]


class Metrics(wiring.Component):
    """Adds up what LOSS measures.

    Parameters
    ----------
    loss_width : int
        Bits of a loss.

    Members
    -------
    clear : In(1)
        Zeroes everything.
    valid : In(1)
        A vertex has been measured.
    loss : In(loss_width), hit : In(1), split : In(2)
        Its loss, whether it was classified correctly, and its ``isa.Split``; valid with ``valid``.
    losses : Out(64), one per split
        Summed losses of training, validation and test vertices.
    hits : Out(32), one per split
        How many of them were classified correctly.
    """

    def __init__(self, loss_width):
        super().__init__({
            "clear": In(1),
            "valid": In(1),
            "loss": In(loss_width),
            "hit": In(1),
            "split": In(2),
            "losses": Out(64).array(3),
            "hits": Out(32).array(3),
        })

    def elaborate(self, platform):
        m = Module()
        splits = (isa.Split.TRAIN, isa.Split.VALIDATION, isa.Split.TEST)
        for split, losses, hits in zip(splits, self.losses, self.hits, strict=True):
            with m.If(self.valid & (self.split == split)):
                m.d.sync += [losses.eq(losses + self.loss), hits.eq(hits + self.hit)]
            with m.If(self.clear):
                m.d.sync += [losses.eq(0), hits.eq(0)]
        return m
