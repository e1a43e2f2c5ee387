# SPDX-License-Identifier: BSD-2-Clause
"""Products of real matrices by BLAS, on as many threads as pay."""

import functools

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

__all__ = ["float_product"]

#: Multiplications from which on several threads are faster, whatever else the machine does. Threads
#: of a smaller product wait for each other, fifty times longer than they work if a core is busy.
_LARGE = 1 << 27


def float_product(a: npt.NDArray[np.float64],
                  b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The product of two matrices; a small one is computed by a single thread."""
    if a.size * b.shape[-1] >= _LARGE:
        return a @ b
    with _libraries().limit(limits=1, user_api="blas"):
        return a @ b


@functools.cache
def _libraries() -> ThreadpoolController:
    """The loaded libraries that have threads of their own."""
    return ThreadpoolController()
