# SPDX-License-Identifier: BSD-2-Clause
"""A function of one variable by table, between its entries by straight lines."""

from collections.abc import Sequence
from itertools import pairwise

from amaranth.hdl import Cat, Module, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError
from hypercast.rtl.lib.parity_memory import ParityMemory
from hypercast.rtl.vector.pipeline import delay_by

__all__ = ["Interpolation"]

#: Pieces of the line.
_PIECES = 64


class Interpolation(wiring.Component):
    """Interpolates one value per cycle, as ``arithmetic._interpolate`` does.

    Parameters
    ----------
    table : sequence of int
        65 values, none negative, that never fall or never rise.
    rest_bits : int
        Fraction bits of the argument.

    Members
    -------
    i : In(7 + rest_bits)
        Argument, in entries of the table: at most 64.
    o : Out(bits of the largest value)
        Value for the argument of ``LATENCY`` cycles ago.
    fault : Out(1)
        High while the entry of the table for the argument of a cycle ago had changed.

    Raises
    ------
    InputError
        If the table has another length, or both rises and falls.
    """

    #: Cycles from ``i`` to ``o``.
    LATENCY = 3

    def __init__(self, table: Sequence[int], rest_bits: int) -> None:
        table = tuple(table)
        if len(table) != _PIECES + 1:
            raise InputError(f"table must have {_PIECES + 1} values, not {len(table)}")
        if sorted(table) not in (list(table), list(table[::-1])):
            raise InputError(f"table must not both rise and fall, as {table} does")
        self._table = table
        self._rest_bits = rest_bits
        super().__init__({
            "i": In(7 + rest_bits),
            "o": Out(unsigned(max(table).bit_length())),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        steps = [abs(following - value) for value, following in pairwise(self._table)]
        entry = data.StructLayout({
            "value": len(self.o), "step": max(1, max(steps).bit_length())})
        m.submodules.table = table = ParityMemory(entry.size, _PIECES, init=[
            entry.const({"value": value, "step": step}).as_value().value
            for value, step in zip(self._table, steps, strict=False)])
        [port], found = table.reads, entry(table.reads[0].data)

        # The end of the table is the end of its last piece.
        end = self.i[-1]
        rest = delay_by(m, Cat(self.i[:self._rest_bits], end), 1)
        product = Signal(len(rest) + len(found.step))
        value = delay_by(m, found.value, 1)
        distance = product >> self._rest_bits
        m.d.comb += [
            port.addr.eq(self.i[self._rest_bits:-1] | end.replicate(len(port.addr))),
            port.en.eq(1),
            self.fault.eq(port.fault),
        ]
        m.d.sync += [
            product.eq(found.step * rest),
            self.o.eq(value + distance if self._table[0] < self._table[-1] else value - distance),
        ]
        return m
