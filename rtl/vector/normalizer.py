"""Between LOSS's passes over a row: logarithm and reciprocal of the sum."""

from itertools import pairwise
from math import log2

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl import isa
from hypercast.rtl.vector.loss_layouts import NormalizedRow, summed_row
from hypercast.rtl.vector.pipeline import bit_length
from hypercast.rtl.vector.reciprocal import Reciprocal

__all__ = ["Normalizer"]

#: ``log2(1 + i / 64)`` with 12 fraction bits.
_TABLE = tuple(round(4096 * log2(1 + i / 64)) for i in range(65))


class Normalizer(wiring.Component):
    """Turns each row's sum to its loss, and to the factor that makes it one.

    A row takes about 6 cycles, one whose reciprocal is needed about 23.

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
        A row's loss is ready, for one cycle; not for rows of split NONE.
    loss : Out(element_width + 24)
        Cross-entropy in bits with 12 fraction bits; valid with ``loss_valid``, like the following.
    split : Out(2), hit : Out(1)
        The row's split, and whether its label was predicted.
    """

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
        m.submodules.reciprocal = reciprocal = Reciprocal()
        entry = data.StructLayout({"value": unsigned(13), "rise": unsigned(7)})
        m.submodules.table = table = Memory(shape=entry, depth=64, init=[
            {"value": value, "rise": following - value}
            for value, following in pairwise(_TABLE)])
        port = table.read_port()

        row = self.i.p
        length = Signal(5)
        n = Signal(4)
        normalized = Signal(26)  # the sum, moved up until its highest bit is set
        rise = Signal(17)
        m.d.comb += [
            port.addr.eq(normalized[19:25]),
            reciprocal.divisor.eq(normalized),
            self.o.p.label.eq(row.label),
            self.o.p.trained.eq(self.train & (row.split == isa.Split.TRAIN)),
            self.o.p.reciprocal.eq(reciprocal.o),
            self.o.p.n.eq(n),
            self.split.eq(row.split),
            self.hit.eq(row.hit),
        ]
        with m.FSM():
            with m.State("MEASURE"):
                m.d.sync += length.eq(bit_length(row.total))
                with m.If(self.i.valid):
                    with m.If(row.split == isa.Split.NONE):
                        m.next = "FORWARD"
                    with m.Else():
                        m.next = "NORMALIZE"
            with m.State("NORMALIZE"):
                m.d.sync += [
                    n.eq(length - 17),
                    normalized.eq(row.total << (26 - length)[:4]),
                ]
                m.next = "LOOK UP"
            with m.State("LOOK UP"):
                m.d.comb += reciprocal.start.eq(self.o.p.trained)
                m.next = "INTERPOLATE"
            with m.State("INTERPOLATE"):
                m.d.sync += [
                    rise.eq(port.data.rise * normalized[9:19]),
                    self.loss.eq(row.own + port.data.value + (n << 12)),
                ]
                m.next = "ADD"
            with m.State("ADD"):
                m.d.sync += [self.loss.eq(self.loss + (rise >> 10)), self.loss_valid.eq(1)]
                m.next = "FORWARD"
            with m.State("FORWARD"):
                m.d.sync += self.loss_valid.eq(0)
                m.d.comb += [
                    self.o.valid.eq(~reciprocal.busy),
                    self.i.ready.eq(self.o.valid & self.o.ready),
                ]
                with m.If(self.i.ready):
                    m.next = "MEASURE"
        return m
