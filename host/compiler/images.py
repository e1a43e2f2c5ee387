# SPDX-License-Identifier: BSD-2-Clause
"""First contents of a core's memory channels: words by the names of their regions."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Image", "Words"]

#: Memory words, (words, ``Config.chunks``).
Words: TypeAlias = npt.NDArray[np.uint32]
#: Region names and words, of one core.
Image: TypeAlias = list[tuple[str, Words]]
