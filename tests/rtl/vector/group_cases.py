# SPDX-License-Identifier: BSD-2-Clause
"""Cases for the blocks that cut panels into groups and join them again."""

import pytest

#: Chances that a source idles and that a sink stalls.
IDLES = pytest.mark.parametrize("idle, stall", [(0.0, 0.0), (0.4, 0.1), (0.1, 0.6)])
#: Groups of a row: of a part of a panel, of one, of several.
GROUP_SHAPES = pytest.mark.parametrize("lanes, element_width, groups", [
    (2, 8, 3), (4, 16, 2), (8, 8, 3), (8, 16, 4), (16, 16, 1), (16, 8, 6), (16, 16, 8)])
