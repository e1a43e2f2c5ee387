# SPDX-License-Identifier: BSD-2-Clause
"""Master weights: 32-bit integers in units of ``2**MASTER_EXPONENT``, from real numbers."""

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError
from hypercast.reference.array_types import FloatArray, IntArray
from hypercast.rtl.isa import MASTER_EXPONENT

__all__ = ["master_weights"]

_LOW, _HIGH = -(1 << 31), (1 << 31) - 1


def master_weights(values: npt.ArrayLike, name: str) -> IntArray:
    """Real numbers rounded half to even to master weights, as int64.

    Parameters
    ----------
    values : array
        Real numbers from -32 to 32, that just excluded.
    name : str
        The values' name in messages.

    Raises
    ------
    InputError
        If one is out of range, or not a number; names the first.
    """
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise InputError(f"{name} is of type {values.dtype}; give real numbers")
    values = values.astype(np.float64)
    masters: FloatArray = np.rint(np.ldexp(values, -MASTER_EXPONENT))
    bad = np.argwhere(~((masters >= _LOW) & (masters <= _HIGH)))  # also NaN
    if bad.size:
        index = tuple(bad[0].tolist())
        place = f"{name}[{', '.join(map(str, index))}]"
        if np.isnan(values[index]):
            raise InputError(f"{place} is nan, which is no weight; train again, or replace it")
        raise InputError(f"{place} is {values[index]:.9g}, but weights are at least -32 and below "
                         f"32, as masters of 32 bits hold them; scale the layer's weights down")
    return masters.astype(np.int64)
