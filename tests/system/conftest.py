# SPDX-License-Identifier: BSD-2-Clause
"""What all tests of whole systems share."""

import pytest

from hypercast.host.compiler import movement
from hypercast.host.runtime import chip


@pytest.fixture(autouse=True)
def half_of_what_programs_may_move(monkeypatch):
    """Programs are stopped if they move more than half of what they may: the sum without a factor.

    So every training on a chip shows that the compiler's bound is one.
    """
    monkeypatch.setattr(chip, "most_moves",
                        lambda job, entry: movement.most_moves(job, entry) // 2)
