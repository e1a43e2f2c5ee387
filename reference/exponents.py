# SPDX-License-Identifier: BSD-2-Clause
"""The controller's exponent file: how every tensor's exponent is chosen, step after step."""

from collections.abc import Callable, ItemsView, Mapping

from hypercast.errors import HypercastError
from hypercast.reference.tensor import Tensor
from hypercast.rtl.isa import (
    GRADIENT_ZEROS,
    LONGEST_SHIFT,
    LOSS_SHIFT,
    MAXIMUM_EXPONENT,
    MINIMUM_EXPONENT,
)

__all__ = ["AccumulatorError", "AlignmentError", "ExponentError", "ExponentFile", "chosen_exponent"]


class ExponentError(HypercastError, ArithmeticError):
    """A tensor's exponent is out of range; the chip stops with EXPONENT."""


class AccumulatorError(HypercastError, ArithmeticError):
    """A sum over samples does not fit an accumulator."""


class AlignmentError(HypercastError, ArithmeticError):
    """Two tensors' exponents are too far apart; the chip stops with ALIGNMENT."""


def chosen_exponent(exponent: int, peak: int | None, headroom: int, element_width: int) -> int:
    """The exponent a tensor has next, if accumulators and the range of exponents do not raise it.

    Parameters
    ----------
    exponent : int
        The one it has.
    peak : int or None
        The tensor's peak, ``None`` if not valid.
    headroom : int
        Bits left free above the peak.
    element_width : int
        Bits of a mantissa.
    """
    return exponent if peak is None else peak + headroom - (element_width - 1)


class ExponentFile:
    """Exponent and peak of every tensor.

    A tensor's values are its mantissas times ``2**exponent``. Its peak, if valid, says that every
    value's magnitude was below ``2**peak`` when it was last computed; the next exponent is chosen
    from it. Reading ``file[name]`` gives the exponent; assigning it also makes the peak invalid.

    Parameters
    ----------
    element_width : int
        Bits of a mantissa.
    accumulator_width : int
        Bits of an accumulator.
    headroom : callable
        Bits left free above a tensor's peak; if negative, larger values saturate.
    entry_of : callable
        Gives a tensor's entry. Tensors that are added, or are parts of one matrix, have one in
        common.
    """

    def __init__(self, element_width: int, accumulator_width: int,
                 headroom: Callable[[Tensor], int],
                 entry_of: Callable[[Tensor], Tensor] = lambda tensor: tensor) -> None:
        self.element_width = element_width
        self.accumulator_width = accumulator_width
        self._headroom = headroom
        self._entry_of = entry_of
        self._exponents: dict[Tensor, int] = {}
        self._peaks: dict[Tensor, int] = {}

    def __getitem__(self, name: Tensor) -> int:
        return self._exponents[self._entry_of(name)]

    def __setitem__(self, name: Tensor, exponent: int) -> None:
        self._exponents[self._entry_of(name)] = exponent
        self._peaks.pop(self._entry_of(name), None)

    def items(self) -> ItemsView[Tensor, int]:
        """Pairs of tensor and exponent, of all entries."""
        return self._exponents.items()

    def entries(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every tensor."""
        return {name: (exponent, self.peak(name)) for name, exponent in self.items()}

    def load(self, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Take over the exponents and peaks that ``entries`` gave."""
        self._exponents = {name: exponent for name, (exponent, _) in entries.items()}
        self._peaks = {name: peak for name, (_, peak) in entries.items() if peak is not None}

    def peak(self, name: Tensor) -> int | None:
        """Peak of a tensor, ``None`` if not valid."""
        return self._peaks.get(self._entry_of(name))

    def open(self, name: Tensor, base: int, peak_of: Tensor | None = None) -> None:
        """Choose the exponent of a result whose accumulators have exponent ``base``.

        The peak that counts is the peak of ``peak_of``, which keeps it, or else the result's own.

        Raises
        ------
        ExponentError
            If it would be above ``MAXIMUM_EXPONENT``.
        """
        entry = self._entry_of(name)
        exponent = chosen_exponent(
            self._exponents.get(entry, MINIMUM_EXPONENT), self.peak(peak_of or name),
            self._headroom(name), self.element_width)
        self._peaks.pop(entry, None)
        exponent = max(exponent, base, MINIMUM_EXPONENT)
        if exponent > MAXIMUM_EXPONENT:
            raise ExponentError(
                f"exponent of {name} is {exponent}, above {MAXIMUM_EXPONENT}: values of "
                f"up to 2**{exponent + self.element_width - 1} are too large; scale the features "
                f"down, or lower the learning rate if they grew in training")
        self._exponents[entry] = exponent

    def fold(self, name: Tensor, base: int, bits: int) -> None:
        """Take in that the result's accumulators fit in ``bits`` bits and a sign."""
        entry = self._entry_of(name)
        if bits:
            self._peaks[entry] = max(self._peaks.get(entry, base + bits), base + bits)

    def settle(self, name: Tensor, base: int, bits: int, peak_of: Tensor | None = None, *,
               opens: bool = True) -> None:
        """Choose the exponent of a result, then take in its size: a whole DRAIN or LOSS.

        Unless it ``opens``, it is another part of a tensor that has an exponent already.
        """
        if opens:
            self.open(name, base, peak_of)
        self.fold(name, base, bits)

    def calibrate(self, name: Tensor, base: int, bits: int) -> None:
        """Choose the exponent from the result itself, with no step before to go by."""
        self.fold(name, base, bits)
        self.open(name, base)

    def shift(self, name: Tensor, base: int) -> int:
        """Right shift that requantizes accumulators of exponent ``base``.

        Raises
        ------
        ExponentError
            If ``base`` is above the exponent.
        """
        if base > self[name]:
            raise ExponentError(
                f"accumulators of {name} have exponent {base}, above the tensor's {self[name]}")
        return min(self[name] - base, LONGEST_SHIFT)

    def bias_shift(self, bias: Tensor, base: int) -> int:
        """Left shift that aligns ``bias`` with accumulators of exponent ``base``.

        Raises
        ------
        AlignmentError
            If the bias might not fit the accumulator.
        """
        shift = self[bias] - base
        limit = self.accumulator_width - self.element_width - 1
        if shift > limit:
            raise AlignmentError(
                f"{bias} with exponent {self[bias]} must be shifted left by {shift}, more than "
                f"{limit}, to meet accumulators with exponent {base}")
        return max(shift, -LONGEST_SHIFT)

    def loss_shift(self, logits: Tensor) -> int:
        """The shift ``softmax_gradient`` needs.

        Raises
        ------
        AlignmentError
            If it is not 0 to ``LONGEST_SHIFT``.
        """
        shift = LOSS_SHIFT - self[logits]
        if not 0 <= shift <= LONGEST_SHIFT:
            raise AlignmentError(
                f"exponent of {logits} must be {LOSS_SHIFT - LONGEST_SHIFT} to {LOSS_SHIFT} for "
                f"the loss, not {self[logits]}; scale the features, or lower the learning rate if "
                f"logits grew in training")
        return shift

    def gradient_shift(self, name: Tensor, momentum_exponent: int, base: int) -> int:
        """The shift with which ``update`` takes in a gradient of exponent ``base``.

        Raises
        ------
        AlignmentError
            If it is negative.
        """
        shift = momentum_exponent - base + GRADIENT_ZEROS
        if shift < 0:
            raise AlignmentError(
                f"gradient of {name} has exponent {base}, more than {GRADIENT_ZEROS} above its "
                f"momentum's {momentum_exponent}: gradients have grown far beyond those of the "
                f"first step")
        return min(shift, LONGEST_SHIFT)
