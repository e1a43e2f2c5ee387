"""Between LOSS's passes over a row: logarithm and reciprocal of the sum."""

from itertools import pairwise
from math import log2

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.loss_layouts import NormalizedRow, summed_row
from hypercast.rtl.vector.pipeline import bit_length, delayed
from hypercast.rtl.vector.reciprocal import Reciprocal

__all__ = ["Normalizer"]

#: ``log2(1 + i / 64)`` with 12 fraction bits.
_TABLE = tuple(round(4096 * log2(1 + i / 64)) for i in range(65))


class Normalizer(wiring.Component):
    """Turns each row's sum to its loss, and to the factor that makes it one; a row per cycle.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    train : In(1)
        Gradients are wanted; held while rows are under way.
    i : In(stream of summed_row(config))
        The rows.
    o : Out(stream of NormalizedRow)
        All rows, in order.
    loss_valid : Out(1)
        A row's loss is ready, for one cycle, ``LOSS_LATENCY`` cycles after the row was taken and
        before the row comes out; not for rows of split NONE.
    loss : Out(element_width + 24)
        Cross-entropy in bits with 12 fraction bits; valid with ``loss_valid``, like the following.
    split : Out(2), hit : Out(1)
        The row's split, and whether its label was predicted.
    """

    #: Cycles until a row's sum is normalized.
    _NORMALIZED = 2
    #: Cycles from ``i`` to ``loss``.
    LOSS_LATENCY = _NORMALIZED + 3
    #: Cycles from ``i`` to the queue of ``o``.
    LATENCY = _NORMALIZED + Reciprocal.LATENCY

    def __init__(self, config):
        self._config = config
        super().__init__({
            "train": In(1),
            "i": In(stream.Signature(summed_row(config))),
            "o": Out(stream.Signature(NormalizedRow)),
            "loss_valid": Out(1),
            "loss": Out(config.element_width + 24),
            "split": Out(2),
            "hit": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.results = results = CreditFIFO(NormalizedRow, self.LATENCY + 3)
        m.submodules.reciprocal = reciprocal = Reciprocal()
        entry = data.StructLayout({"value": unsigned(13), "rise": unsigned(7)})
        m.submodules.table = table = Memory(shape=entry, depth=64, init=[
            {"value": value, "rise": following - value}
            for value, following in pairwise(_TABLE)])
        port = table.read_port()
        connect(m, results.o, flipped(self.o))

        row = self.i.p
        fire = Signal()
        m.d.comb += [
            fire.eq(self.i.valid & results.credit),
            self.i.ready.eq(results.credit),
            results.take.eq(fire),
        ]

        # The sum is moved up until its highest bit is set.
        total = delayed(m, row.total, 1)
        length = Signal(5)
        n = Signal(4)
        normalized = Signal(26)
        m.d.sync += [
            length.eq(bit_length(row.total)),
            n.eq(length - 17),
            normalized.eq(total << (26 - length)[:4]),
        ]

        # Its logarithm, by table and interpolation.
        m.d.comb += port.addr.eq(normalized[19:25])
        rest = delayed(m, normalized[9:19], 1)
        base = delayed(m, delayed(m, row.own, self._NORMALIZED) + (n << 12), 1)
        rise = Signal(17)
        below = Signal.like(self.loss)
        m.d.sync += [
            rise.eq(port.data.rise * rest),
            below.eq(base + port.data.value),
            self.loss.eq(below + (rise >> 10)),
        ]
        m.d.comb += [
            self.loss_valid.eq(
                delayed(m, fire & (row.split != isa.Split.NONE), self.LOSS_LATENCY)),
            self.split.eq(delayed(m, row.split, self.LOSS_LATENCY)),
            self.hit.eq(delayed(m, row.hit, self.LOSS_LATENCY)),
        ]

        # Its reciprocal, which takes longer.
        trained = self.train & (row.split == isa.Split.TRAIN)
        m.d.comb += [
            reciprocal.divisor.eq(normalized),
            results.push.eq(delayed(m, fire, self.LATENCY)),
            results.i.label.eq(delayed(m, row.label, self.LATENCY)),
            results.i.trained.eq(delayed(m, trained, self.LATENCY)),
            results.i.n.eq(delayed(m, n, Reciprocal.LATENCY)),
            results.i.reciprocal.eq(reciprocal.o),
        ]
        return m
