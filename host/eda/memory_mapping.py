# SPDX-License-Identifier: BSD-2-Clause
"""Which RAM a memory becomes, and how many of it."""

from dataclasses import dataclass

from hypercast.host.eda.families import Area
from hypercast.host.eda.netlist_counts import NetlistMemory

__all__ = ["RAMS", "Rams"]


@dataclass(frozen=True, kw_only=True)
class Rams:
    """The RAMs of a family.

    Parameters
    ----------
    blocks : tuple of (int, int)
        Words and bits of a block RAM, in the shapes it can have.
    halves : bool
        Whether a block is two of half its width, each of which can be used by itself.
    distributed : tuple of (int, int, int)
        Words and bits of the units of distributed RAM, and the LUTs of one; units with the fewest
        words come first.
    lut_cost, block_cost : float
        What Yosys takes a LUT of distributed RAM, and a block RAM, to cost.
    table_bits : int
        Bits of a table that a LUT holds.
    ultra : bool
        Whether there are UltraRAMs, of 4,096 words of 72 bits, which cost ``_ULTRA_COST``.
    """

    blocks: tuple[tuple[int, int], ...]
    halves: bool
    distributed: tuple[tuple[int, int, int], ...]
    lut_cost: float
    block_cost: float
    table_bits: int
    ultra: bool = False

    def area(self, memory: NetlistMemory) -> Area:
        """The area of a memory, without the multiplexers of the outputs of several RAMs."""
        luts = memory.reads * self._count_distributed(memory)
        blocks = memory.reads * self._blocks(memory)
        ultra = _ultra_rams(memory)
        deep = -(-memory.words // self._unit(memory)[0])
        # Of several RAMs' outputs one is chosen.
        costs = {"distributed": self.lut_cost * luts + memory.reads * (deep - 1) * memory.width}
        if not memory.writable:
            costs = {"logic": memory.words * memory.width / _TABLE_BITS}
        if memory.registered:
            costs = {"block": self.block_cost * blocks, **costs}
            if self.ultra and memory.writable:
                costs["ultra"] = _ULTRA_COST * ultra
        kind = memory.style if memory.style in costs else min(costs, key=costs.__getitem__)
        # A memory that is logic or distributed RAM has a register for the word that is read.
        registers = memory.registered * memory.reads * memory.width
        if kind == "logic":
            return Area(luts=round(memory.reads * memory.words * memory.width / self.table_bits),
                        flip_flops=registers)
        if kind == "distributed":
            return Area(ram_luts=luts, flip_flops=registers)
        return Area(ultra_rams=ultra) if kind == "ultra" else Area(block_rams=blocks)

    def _unit(self, memory: NetlistMemory) -> tuple[int, int, int]:
        return next((unit for unit in self.distributed if unit[0] >= memory.words),
                    self.distributed[-1])

    def _count_distributed(self, memory: NetlistMemory) -> int:
        words, bits, luts = self._unit(memory)
        return -(-memory.words // words) * -(-memory.width // bits) * luts

    def _blocks(self, memory: NetlistMemory) -> float:
        found = []
        for words, bits in self.blocks:
            deep, wide = -(-memory.words // words), -(-memory.width // bits)
            half = self.halves and 0 < memory.width % bits <= bits // 2
            found.append(deep * (wide - 0.5 * half))
        return min(found)


def _ultra_rams(memory: NetlistMemory) -> int:
    """UltraRAMs of a memory: a word of one holds several narrow ones, whose bytes of 9 bits are
    written by themselves.
    """
    parts = -(-memory.width // 9)
    words = 1
    while 2 * words * parts <= 8:
        words *= 2
    return -(-memory.words // (4096 * words)) * -(-memory.width // 72)


_ULTRA_COST = 1024
#: Bits of a table that Yosys takes to cost as much as a LUT.
_TABLE_BITS = 16
_AMD_BLOCKS = ((512, 72), (1024, 36), (2048, 18), (4096, 9), (8192, 4), (16384, 2), (32768, 1))
#: The RAMs of each family, by name, with the costs of Yosys' descriptions of them.
RAMS = {
    "ecp5": Rams(blocks=((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1)),
                 halves=False, distributed=((16, 4, 6),), lut_cost=2 / 3, block_cost=128,
                 table_bits=16),
    "7series": Rams(blocks=_AMD_BLOCKS, halves=True, distributed=((32, 6, 4), (64, 3, 4)),
                    lut_cost=2, block_cost=257, table_bits=64),
    "ultrascale+": Rams(blocks=_AMD_BLOCKS, halves=True, distributed=((32, 14, 8), (64, 7, 8)),
                        lut_cost=2, block_cost=257, table_bits=64, ultra=True),
}
