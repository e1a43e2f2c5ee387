# SPDX-License-Identifier: BSD-2-Clause
"""Tensors of a training step: mantissas, and the exponents that go with them."""

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from hypercast.reference.arithmetic import align, bit_length, requantize
from hypercast.reference.array_types import IntArray, IntMatrix
from hypercast.reference.dropout import Dropout
from hypercast.reference.exponents import ExponentFile
from hypercast.reference.mantissa_file import MANTISSA, MantissaFile
from hypercast.reference.row_blocks import row_blocks
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import FACTOR_WIDTH, MINIMUM_EXPONENT

__all__ = ["FixedTensors"]

Result = TypeVar("Result")


class _TooLowError(Exception):
    """An exponent was found too low for another tensor of its entry."""


class FixedTensors:
    """Makes tensors of accumulators, as a DRAIN does.

    Parameters
    ----------
    element_width : int
        Bits of a mantissa.
    headroom, entry_of : callable
        As of ``ExponentFile``.
    restarts : bool
        Whether a program that is calibrated begins again as soon as an exponent is found too
        low. If not, the tensors that have it are rounded again, and the program begins again when
        it has ended.

    Attributes
    ----------
    mantissas : MantissaFile
        By tensor.
    stored : dict
        The same arrays, unless sparse, with 16 bits.
    exponents : ExponentFile
        Exponents of the tensors.
    saturations : collections.Counter
        Elements that saturated so far, by tensor.
    """

    def __init__(self, element_width: int, headroom: Callable[[Tensor], int],
                 entry_of: Callable[[Tensor], Tensor], *, restarts: bool = False) -> None:
        self.mantissas = MantissaFile()
        self.stored: dict[Tensor, IntMatrix] = self.mantissas.data
        width = Config(element_width=element_width).accumulator_width
        self.exponents = ExponentFile(element_width, width, headroom, entry_of)
        self.saturations: Counter[Tensor] = Counter()
        self._restarts = restarts
        self._calibrating = False
        self._revised = False  # whether an exponent was found too low for another of its entry
        self._width = element_width
        self._entry_of = entry_of
        self._opened: set[Tensor] = set()  # entries of this program's tensors
        self._stored: dict[Tensor, list[Tensor]] = {}  # tensors of an entry, while calibrating
        self._least: dict[Tensor, int] = {}  # exponents of entries that were found too low

    def calibrate_during(self, program: Callable[[], Result]) -> Result:
        """Run ``program`` with exponents that are chosen from the tensors themselves.

        It runs again until no exponent is too low for another tensor of its entry; exponents that
        earlier programs found do not count.
        """
        self._least.clear()
        self._calibrating = True
        while True:
            self._revised = False
            try:
                result = program()
            except _TooLowError:
                continue
            if not self._revised:
                self._calibrating = False
                return result

    @property
    def opened(self) -> frozenset[Tensor]:
        """Entries that this program has opened."""
        return frozenset(self._opened)

    def begin(self) -> None:
        """A program begins: each entry is opened by the first tensor that is stored."""
        self._opened.clear()
        self._stored.clear()

    def opens(self, name: Tensor) -> bool:
        """Whether a tensor is the first one of its entry in this program. It is taken for stored.
        """
        entry = self._entry_of(name)
        first = entry not in self._opened
        self._opened.add(entry)
        return first

    def base(self, *factors: Tensor) -> int:
        """Exponent of the accumulators of a product."""
        return sum(self.exponents[factor] for factor in factors)

    def bias(self, name: Tensor, base: int) -> IntArray:
        """A bias, as accumulators of exponent ``base`` take it."""
        return align(self.mantissas[name], self.exponents.bias_shift(name, base))

    def store(self, name: Tensor, sums: IntArray, base: int,
              dropout: Dropout | None = None) -> None:
        """Requantize accumulators of exponent ``base``, scaled as ``dropout`` asks."""
        base += dropout.exponent if dropout else 0
        if self._calibrating:
            self.calibrate(name, bit_length(sums), base)
        else:
            self.exponents.settle(name, base, bit_length(sums), name.of_training,
                                  opens=self.opens(name))
        self._put(name, sums, self.exponents.shift(name, base))
        if dropout and dropout.multiplier:
            self._put(name, self.mantissas[name] * dropout.multiplier, FACTOR_WIDTH)

    def _put(self, name: Tensor, sums: IntArray, shift: int) -> None:
        self.saturations[name] += self._round(name, sums, shift)

    def _round(self, name: Tensor, sums: IntArray, shift: int) -> int:
        """Round a tensor's values, and count those that saturate."""
        values, saturations = np.empty(sums.shape, dtype=MANTISSA), 0
        for some in row_blocks(sums.shape):
            values[some], saturated = requantize(sums[some], shift, self._width)
            saturations += saturated
        self.mantissas[name] = values
        return saturations

    def calibrate(self, name: Tensor, bits: int, base: int) -> None:
        """Choose the exponent of a result from its own size, in a program that is calibrated.

        An entry that others have keeps the largest: they are rounded again, or the program is
        begun again.

        Parameters
        ----------
        name : Tensor
            The result.
        bits, base : int
            Bits that its accumulators fit in, without the sign, and their exponent.
        """
        entry, first = self._entry_of(name), self.opens(name)
        before = self._least.get(entry, MINIMUM_EXPONENT) if first else self.exponents[name]
        self.exponents.calibrate(name, base, bits)
        if first or self.exponents[name] <= before:
            self.exponents[name] = max(self.exponents[name], before)
        else:
            self._least[entry] = self.exponents[name]
            self._revised = True
            if self._restarts:
                raise _TooLowError
            for other in self._stored[entry]:
                self._round(other, self.mantissas[other], self.exponents[name] - before)
        self._stored.setdefault(entry, []).append(name)
