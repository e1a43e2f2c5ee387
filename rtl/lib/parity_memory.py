# SPDX-License-Identifier: BSD-2-Clause
"""A memory that tells when a word in it has changed by itself."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory, MemoryData
from amaranth.lib.wiring import In, Out

from hypercast.rtl.lib.ram_style import ram_style

__all__ = ["ParityMemory"]


def _with_parity(bits: int) -> dict[str, int]:
    return {"bits": bits, "parity": bits.bit_count() & 1}


class ParityMemory(wiring.Component):
    """``depth`` words of ``pieces * width`` bits, and for each piece the parity of its bits.

    The parity of zeros is zero, so what was never written is right. An odd number of changed bits
    in a piece is found, an even number is not.

    Parameters
    ----------
    width : int
        Bits of a piece.
    depth : int
        Words.
    pieces : int
        Pieces of a word, each of which can be written by itself.
    init : sequence of int
        What is in a table, from the first word on. It cannot be written.
    reads : int
        Read ports.
    domain : str
        ``"sync"``: words are there in the cycle after their address; ``"comb"``: in the same cycle,
        in distributed RAM.

    Members
    -------
    reads : array of {addr, en, data, fault}
        ``data`` is the word at ``addr``; in domain ``sync`` it changes only where ``en`` is high,
        in ``comb`` there is no ``en``. A write in the same cycle is not yet seen. ``fault`` is high
        while ``data`` is not what was written: combinational, of ``data``.
    write : {addr, en, data}
        Unless it is a table. Bit ``k`` of ``en`` is high to write piece ``k``.

    Attributes
    ----------
    contents : MemoryData
        Words with their parities, for simulation: of each piece first its bits.
    """

    def __init__(self, width: int, depth: int, *, pieces: int = 1, init: Sequence[int] = (),
                 reads: int = 1, domain: str = "sync") -> None:
        self._width = width
        self._domain = domain
        word = pieces * width
        self._word = data.ArrayLayout(data.StructLayout({"bits": width, "parity": 1}), pieces)
        mask = (1 << width) - 1
        self.contents = MemoryData(shape=self._word, depth=depth, init=[
            [_with_parity(value >> piece * width & mask) for piece in range(pieces)]
            for value in init])
        self._attributes = ram_style(depth, self._word.size) if domain == "sync" else {}
        enable = {"en": Out(1)} if domain == "sync" else {}
        super().__init__({
            "reads": In(wiring.Signature({
                "addr": Out(range(depth)), **enable, "data": In(word), "fault": In(1),
            })).array(reads),
            **({} if init else {"write": In(wiring.Signature({
                "addr": Out(range(depth)), "en": Out(pieces), "data": Out(word)}))}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.with_parity = words = Memory(self.contents, attrs=self._attributes)
        if "write" in self.signature.members:
            write = words.write_port(granularity=1)
            m.d.comb += [write.addr.eq(self.write.addr), write.en.eq(self.write.en)]
            for number, piece in enumerate(write.data):
                bits = self.write.data.word_select(number, self._width)
                m.d.comb += [piece.bits.eq(bits), piece.parity.eq(bits.xor())]
        for port in self.reads:
            read = words.read_port(domain=self._domain)
            m.d.comb += [
                read.addr.eq(port.addr),
                port.data.eq(Cat(piece.bits for piece in read.data)),
                port.fault.eq(Cat(piece.as_value().xor() for piece in read.data).any()),
            ]
            if self._domain == "sync":
                m.d.comb += read.en.eq(port.en)
        return m
