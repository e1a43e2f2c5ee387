# SPDX-License-Identifier: BSD-2-Clause
"""Gives the longest paths of a folded module two slots instead of one.

Whatever is computed for an instance is needed only when its next slot comes, so a path that is too
long is cut by flip-flops, and what it ends in is written a slot later than all else.
"""

from collections.abc import Iterable

from hypercast.rtl.folding.arrivals import Arrivals, logic
from hypercast.rtl.folding.netlist import CONSTANTS, Bit, Netlist

__all__ = ["Stages"]

#: Longest path of the first stage, in levels of logic: about half of a core's longest.
_LEVELS = 10


class Stages:
    """The two stages of a netlist's logic; puts flip-flops between them.

    Parameters
    ----------
    netlist : Netlist
        The netlist; it is changed.
    """

    def __init__(self, netlist: Netlist) -> None:
        self._netlist = netlist
        self._arrivals = Arrivals(netlist)
        self._delayed: dict[Bit, Bit] = {}
        late = [cell for cell in logic(netlist) if self.late(cell["connections"]["Y"])]
        for cell in late:
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "input":
                    cell["connections"][port] = self.second(bits)

    def late(self, bits: Iterable[Bit]) -> bool:
        """Whether any of some nets comes in the second stage."""
        return any(self._arrivals.of(bit) > _LEVELS for bit in bits)

    def second(self, bits: Iterable[Bit]) -> list[Bit]:
        """Nets that hold, in the second stage, what others are for an instance."""
        return [self._second(bit) for bit in bits]

    def _second(self, bit: Bit) -> Bit:
        if bit in CONSTANTS or self._arrivals.of(bit) > _LEVELS:
            return bit
        if bit not in self._delayed:
            [self._delayed[bit]] = self._netlist.nets(1)
            self._netlist.flip_flops(f"$second${bit}", [bit], [self._delayed[bit]])
        return self._delayed[bit]
