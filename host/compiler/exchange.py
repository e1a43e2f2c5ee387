# SPDX-License-Identifier: BSD-2-Clause
"""Exchanges places in a program: places of a batch with places of the next one.

A step that works ahead leaves the next batch's sums beside its own, which it still reads. So the
next step finds its own where this one left them, and leaves others where this one's were. Lists can
have two places, too: a step reads the lists in one place, while the next batch's are brought to the
other. So can row counts.
"""

from collections.abc import Mapping, Sequence

from hypercast.host.compiler.layout import SUMS, SUMS_AHEAD
from hypercast.host.compiler.memory_map import Region
from hypercast.reference.tensor import Tensor
from hypercast.rtl.access import Store
from hypercast.rtl.isa import OPERATIONS, Opcode, decode, encode

__all__ = ["exchange"]

#: Fields that name entries of the exponent file.
_ENTRIES = ("a", "b", "o", "peak_of", "bias_tensor")
#: What lies in the memory channels and can have two places.
_STORES = (Store.MATRIX, Store.EDGE_SET, Store.SEND_LIST, Store.LABELS)


def exchange(words: Sequence[int], pairs: Sequence[tuple[Region, Region]],
             tensors: Mapping[Tensor, int], counts: int) -> list[int]:
    """The program with the places of each pair, and both entries of the sums, exchanged.

    Parameters
    ----------
    words : sequence of int
        Encoded instructions.
    pairs : sequence of (Region, Region)
        Places, both of each pair in one channel.
    tensors : dict
        Entry of the exponent file to its number.
    counts : int
        Entries of the row table from the row counts of ``words`` to its own.
    """
    places = [(one, other) for pair in pairs for one, other in (pair, pair[::-1])]
    entries = [tensors[name] for name in (SUMS, SUMS_AHEAD)]
    numbers = dict(zip(entries, reversed(entries), strict=True))

    def moved(channel: int, address: int) -> int:
        for one, other in places:
            if one.channel == channel and one.address <= address < one.address + one.words:
                return address - one.address + other.address
        return address

    found = []
    for word in words:
        fields = decode(word)
        opcode = Opcode(fields.pop("opcode"))
        new = {name: numbers.get(fields[name], fields[name])
               for name in _ENTRIES if name in fields}
        for access in OPERATIONS[opcode].uses(fields):
            if access.store in _STORES:
                new[access.field] = moved(access.channel_of(fields), fields[access.field])
        if "vertices" in fields:
            new["vertices"] = fields["vertices"] + counts
        found.append(encode(opcode, **fields | new))
    return found
