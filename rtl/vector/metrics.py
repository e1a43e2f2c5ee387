# SPDX-License-Identifier: BSD-2-Clause
"""Sums of losses, and counts of hits and misses, per split."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl import isa
from hypercast.rtl.limits import CLASSES

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
    loss : In(loss_width), split : In(2)
        The row's loss and ``isa.Split``; valid with ``valid``.
    correct, wrong : In(range(CLASSES + 1))
        Whether its class was predicted, and 0; or, if it may have several, how many labels were
        predicted and meant, and how many were either predicted or meant; valid with ``valid``.
    losses : Out(64), one per split
        Summed losses of training, validation and test vertices.
    hits, misses : Out(32), one per split
        Sums of ``correct`` and ``wrong``.
    """

    def __init__(self, loss_width: int) -> None:
        super().__init__({
            "clear": In(1),
            "valid": In(1),
            "loss": In(loss_width),
            "correct": In(range(CLASSES + 1)),
            "wrong": In(range(CLASSES + 1)),
            "split": In(2),
            "losses": Out(64).array(3),
            "hits": Out(32).array(3),
            "misses": Out(32).array(3),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        splits = (isa.Split.TRAIN, isa.Split.VALIDATION, isa.Split.TEST)
        for split, losses, hits, misses in zip(
                splits, self.losses, self.hits, self.misses, strict=True):
            with m.If(self.valid & (self.split == split)):
                m.d.sync += [
                    losses.eq(losses + self.loss),
                    hits.eq(hits + self.correct),
                    misses.eq(misses + self.wrong),
                ]
            with m.If(self.clear):
                m.d.sync += [losses.eq(0), hits.eq(0), misses.eq(0)]
        return m
