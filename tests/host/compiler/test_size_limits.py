# SPDX-License-Identifier: BSD-2-Clause
"""The largest networks and graphs that instructions can name, and those that are one too large."""

import pytest

from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.size_limits import check_sizes
from hypercast.reference.network import Network
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Opcode, largest

CONFIG = PRESETS["test"]
FEATURES = largest(Opcode.MATMUL, "panels") * CONFIG.lanes
#: Rows of a core are numbered from 0; one is left for what comes after the last.
VERTICES = (largest(Opcode.MATMUL, "row_start") + 1) * CONFIG.cores - 1


@pytest.mark.parametrize(("widths", "vertices"), [
    ([8, 512], 9), ([FEATURES, 3], 9), ([8, FEATURES, 3], 9), ([8, 3], VERTICES)])
def test_the_largest(widths, vertices):
    check_sizes(Network.of_widths(widths), vertices, CONFIG)


@pytest.mark.parametrize(("widths", "vertices", "text"), [
    ([8, 513], 9, "the network has 513 classes, but the loss unit takes 512 at most"),
    ([FEATURES + 1, 3], 9, f"a layer has {FEATURES + 1} input features, but with lanes = "
                           f"{CONFIG.lanes} there can be {FEATURES}; raise lanes, or reduce"),
    ([8, FEATURES + 1, 3], 9, f"a layer has {FEATURES + 1} input features"),
    ([8, 3], VERTICES + 1, f"the graph has {VERTICES + 1} vertices, but with dimensions = "
                           f"{CONFIG.dimensions} there must be fewer than {VERTICES + 1}; raise")])
def test_what_is_one_too_large(widths, vertices, text):
    with pytest.raises(CapacityError, match=text):
        check_sizes(Network.of_widths(widths), vertices, CONFIG)
