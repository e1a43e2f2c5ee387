# SPDX-License-Identifier: BSD-2-Clause
"""The unpacker."""

from functools import partial

from amaranth.hdl import Assert, Assume, Module

from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held, past
from hypercast.rtl.lib.unpacker import Unpacker

__all__ = ["PROOFS"]


def _bench(word_width: int, record_width: int) -> Bench:
    """Holds its output but for a flush, never refuses a word while it offers nothing."""
    m = Module()
    m.submodules.dut = dut = Unpacker(word_width, record_width)
    m.d.comb += [
        Assume(is_held(m, dut.i)),
        Assert(is_held(m, dut.o) | past(m, dut.flush)),
        Assert(dut.o.valid | dut.i.ready),
    ]
    return Bench(m, [dut.i.valid, dut.i.payload, dut.o.ready, dut.flush],
                 [dut.o.valid & ~dut.o.ready, dut.i.valid & ~dut.i.ready])


PROOFS = [
    Proof(block="unpacker", size=f"words of {word} bits, records of {record}",
          claim="holds its output but for a flush, never refuses a word while it offers nothing",
          bench=partial(_bench, word, record))
    for word, record in ((8, 2), (6, 2), (4, 4), (2, 4), (2, 8))
]
