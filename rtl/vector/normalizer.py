# SPDX-License-Identifier: BSD-2-Clause
"""Between LOSS's passes over a row: logarithm and reciprocal of the sum."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.limits import CLASSES, row_interval
from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.logarithm import Logarithm
from hypercast.rtl.vector.loss_layouts import NormalizedRow, summed_row
from hypercast.rtl.vector.pipeline import bit_length, delay_by
from hypercast.rtl.vector.reciprocal import Reciprocal

__all__ = ["Normalizer"]


class Normalizer(wiring.Component):
    """Turns each row's sum to its loss, and to the factor that makes the sum one.

    It takes a row every ``row_interval`` cycles. Loss and factor are times the row's weight. Of
    sigmoids, the sum is a sum of logarithms already, and there is no factor.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    train : In(1), sigmoid : In(1)
        Gradients are wanted, and rows are of sigmoids; held while rows are under way.
    i : In(stream of summed_row(config))
        The rows.
    o : Out(stream of NormalizedRow)
        All rows, in order.
    loss_valid : Out(1)
        A row's loss is ready, for one cycle, ``LOSS_LATENCY`` cycles after the row was taken and
        before the row comes out; not for rows of split NONE.
    loss : Out(element_width + 32)
        Weighted cross-entropy in bits with 12 fraction bits; valid with ``loss_valid``, like the
        following.
    split : Out(2), correct, wrong : Out(range(CLASSES + 1))
        The row's split, and what was predicted, see ``Metrics``.
    fault : Out(1)
        High while an entry of a table that was read had changed.
    """

    #: Cycles until a row's sum is normalized.
    _NORMALIZED = 2
    #: Cycles from ``i`` to ``loss``.
    LOSS_LATENCY = _NORMALIZED + Logarithm.LATENCY + 3
    #: Cycles from ``i`` to the queue of ``o``.
    LATENCY = _NORMALIZED + Reciprocal.LATENCY

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "train": In(1),
            "sigmoid": In(1),
            "i": In(stream.Signature(summed_row(config))),
            "o": Out(stream.Signature(NormalizedRow)),
            "loss_valid": Out(1),
            "loss": Out(config.element_width + 32),
            "split": Out(2),
            "correct": Out(range(CLASSES + 1)),
            "wrong": Out(range(CLASSES + 1)),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.results = results = CreditFIFO(NormalizedRow, self.LATENCY + 3)
        interval = row_interval(self._config)
        m.submodules.reciprocal = reciprocal = Reciprocal(26, interval)
        m.submodules.logarithm = logarithm = Logarithm()
        connect(m, results.o, flipped(self.o))

        row = self.i.p
        fire = Signal()
        fired = Signal(interval - 1)  # in the cycles before
        m.d.sync += fired.eq(Cat(fire, fired))
        m.d.comb += [
            self.i.ready.eq(results.credit & ~fired.any()),
            fire.eq(self.i.valid & self.i.ready),
            results.take.eq(fire),
        ]

        # The sum is moved up until its highest bit is set.
        total = delay_by(m, row.total, 1)
        length = Signal(5)
        n = Signal(4)
        normalized = Signal(26)
        m.d.sync += [
            length.eq(bit_length(row.total)),
            n.eq(Mux(self.sigmoid, 0, length - 17)),
            normalized.eq(total << (26 - length)[:4]),
        ]

        # The sum's logarithm, and the loss.
        own = delay_by(m, row.own, self._NORMALIZED)
        base = own + Mux(self.sigmoid, delay_by(m, total, 1), n << 12)
        loss = Signal.like(self.loss)
        product = Signal(len(loss) + len(row.weight))
        m.d.comb += [logarithm.i.eq(normalized[9:25]), self.fault.eq(logarithm.fault)]
        m.d.sync += [
            loss.eq(delay_by(m, base, Logarithm.LATENCY) + Mux(self.sigmoid, 0, logarithm.o)),
            product.eq(loss * delay_by(m, row.weight, self.LOSS_LATENCY - 2)),
            self.loss.eq(product >> 15),
        ]
        m.d.comb += [
            self.loss_valid.eq(
                delay_by(m, fire & (row.split != isa.Split.NONE), self.LOSS_LATENCY)),
            self.split.eq(delay_by(m, row.split, self.LOSS_LATENCY)),
            self.correct.eq(delay_by(m, row.correct, self.LOSS_LATENCY)),
            self.wrong.eq(delay_by(m, row.wrong, self.LOSS_LATENCY)),
        ]

        # The sum's reciprocal, which takes longer.
        trained = self.train & (row.split == isa.Split.TRAIN)
        m.d.comb += [
            reciprocal.enter.eq(delay_by(m, fire, self._NORMALIZED)),
            reciprocal.divisor.eq(normalized),
            reciprocal.weight.eq(delay_by(m, row.weight, self._NORMALIZED)),
            results.push.eq(delay_by(m, fire, self.LATENCY)),
            results.i.weight.eq(delay_by(m, row.weight, self.LATENCY)),
            results.i.trained.eq(delay_by(m, trained, self.LATENCY)),
            results.i.n.eq(delay_by(m, n, Reciprocal.LATENCY)),
            results.i.reciprocal.eq(reciprocal.o),
        ]
        return m
