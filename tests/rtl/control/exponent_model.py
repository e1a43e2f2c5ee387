# SPDX-License-Identifier: BSD-2-Clause
"""The exponent rules of ``docs/instructions.md``, in Python."""

from dataclasses import dataclass

from hypercast.rtl.isa import (
    LOSS_EXPONENT,
    LOSS_SHIFT,
    MASTER_EXPONENT,
    MAXIMUM_EXPONENT,
    MINIMUM_EXPONENT,
    Opcode,
)
from hypercast.rtl.registers import Error

__all__ = ["Choice", "ExponentModel", "pack", "random_fields"]


@dataclass
class Choice:
    """What an instruction's exponents lead to; ``aux_shift`` is None if it has no use for it."""

    base: int
    exponent: int
    shift: int
    aux_shift: int | None
    error: Error


class ExponentModel:
    """``exponents`` and ``peaks`` (None: not valid) of every tensor."""

    def __init__(self, config):
        self._config = config
        self.exponents = [0] * config.tensors
        self.peaks = [None] * config.tensors

    def choose(self, opcode, fields):
        """Apply the rules to a vector instruction, without any effect."""
        config, error = self._config, Error(0)
        a, b, o = (self.exponents[fields[name]] for name in "abo")
        base = {Opcode.DRAIN: a + b + fields.get("exponent_bias", 0),
                Opcode.LOSS: LOSS_EXPONENT, Opcode.UPDATE: MASTER_EXPONENT}[opcode]
        exponent = o
        if fields["open"]:
            peak = self.peaks[fields["peak_of"]]
            if peak is not None:
                exponent = peak + fields["headroom"] - (config.element_width - 1)
            exponent = max(exponent, base, MINIMUM_EXPONENT)
        if exponent > MAXIMUM_EXPONENT or base > exponent:
            error |= Error.EXPONENT

        aux_shift = None
        if opcode == Opcode.DRAIN and fields["bias"]:
            aux_shift = max(self.exponents[fields["bias_tensor"]] - base, -63)
            if aux_shift > config.accumulator_width - config.element_width - 1:
                error |= Error.ALIGNMENT
        elif opcode == Opcode.LOSS:
            aux_shift = LOSS_SHIFT - a
            if not 0 <= aux_shift <= 63:
                error |= Error.ALIGNMENT
        elif opcode == Opcode.UPDATE:
            aux_shift = min(fields["momentum_exponent"] - (a + b) + 16, 63)
            if aux_shift < 0:
                error |= Error.ALIGNMENT
        return Choice(base, exponent, min(exponent - base, 63), aux_shift, error)

    def complete(self, fields, choice, bits):
        """The instruction starts and, its magnitude having ``bits`` bits, is done."""
        o = fields["o"]
        self.exponents[o] = choice.exponent
        if fields["open"]:
            self.peaks[o] = None
        if bits:
            peak = choice.base + bits
            self.peaks[o] = peak if self.peaks[o] is None else max(self.peaks[o], peak)

    def randomize(self, rng, low, high):
        """Random exponents from ``low`` to ``high``, random peaks, some not valid."""
        for tensor in range(len(self.exponents)):
            self.exponents[tensor] = int(rng.integers(low, high + 1))
            self.peaks[tensor] = int(rng.integers(-128, 46)) if rng.random() < 0.7 else None

    def word(self, tensor):
        """A tensor's entry as the window shows it; a peak is stored as -128 at least."""
        peak = self.peaks[tensor]
        return pack(self.exponents[tensor], None if peak is None else max(peak, -128))

    def describes(self, tensor, word):
        """Whether ``word``, read from the window, is the tensor's entry (any peak if invalid)."""
        mask = 0x1FFFF if self.peaks[tensor] is not None else 0x100FF
        return word & mask == self.word(tensor) & mask


def pack(exponent, peak):
    """An entry as the window shows it."""
    return (exponent & 0xFF) | ((peak or 0) & 0xFF) << 8 | (peak is not None) << 16


def random_fields(rng, opcode, tensors):
    """Random exponent operands of a vector instruction; few tensors, so that they meet."""
    fields = {name: int(rng.integers(tensors)) for name in "abo"}
    fields["peak_of"] = fields["o"] if rng.random() < 0.7 else int(rng.integers(tensors))
    fields |= {"open": int(rng.integers(2)), "headroom": int(rng.integers(-4, 4))}
    if opcode == Opcode.DRAIN:
        fields |= {"exponent_bias": int(rng.integers(-32, 32)), "bias": int(rng.integers(2)),
                   "bias_tensor": int(rng.integers(tensors))}
    if opcode == Opcode.UPDATE:
        fields["momentum_exponent"] = int(rng.integers(-128, 128))
    return fields
