"""Exchanges the places of the input features' sums, of a batch and of the next one, in a program.

A step that works ahead leaves the next batch's sums beside its own, which it still reads. So the
next step finds its own where this one left them, and leaves others where this one's were.
"""

from collections.abc import Mapping, Sequence

from hypercast.host.compiler.layout import SUMS, SUMS_AHEAD
from hypercast.host.compiler.memory_map import MemoryMap
from hypercast.reference.tensor import Tensor
from hypercast.rtl.isa import Opcode, decode, encode

__all__ = ["exchanged"]

#: Fields that name entries of the exponent file.
_ENTRIES = ("a", "b", "o", "peak_of", "bias_tensor")


def exchanged(words: Sequence[int], memory: MemoryMap, tensors: Mapping[Tensor, int]) -> list[int]:
    """The program with both places, and both entries of the exponent file, exchanged.

    Parameters
    ----------
    words : sequence of int
        Encoded instructions.
    memory : MemoryMap
        Where both lie: in one channel.
    tensors : dict
        Entry of the exponent file to its number.
    """
    pair = memory[SUMS], memory[SUMS_AHEAD]
    entries = [tensors[name] for name in (SUMS, SUMS_AHEAD)]
    numbers = dict(zip(entries, reversed(entries), strict=True))

    def moved(address: int) -> int:
        for one, other in (pair, pair[::-1]):
            if one.address <= address < one.address + one.words:
                return address - one.address + other.address
        return address

    found = []
    for word in words:
        fields = decode(word)
        opcode = Opcode(fields.pop("opcode"))
        fields |= {name: numbers.get(fields[name], fields[name])
                   for name in _ENTRIES if name in fields}
        # A GRADIENT reads its operands from both channels.
        channel = 1 - fields["gradient_channel"] if opcode == Opcode.GRADIENT \
            else fields.get("channel")
        if channel == pair[0].channel and not fields.get("ones"):
            fields["address"] = moved(fields["address"])
        found.append(encode(opcode, **fields))
    return found
