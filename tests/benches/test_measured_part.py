# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a process's work: time, peak memory, and failures."""

import numpy as np
import pytest

from hypercast.benches.measured_part import measure_part


def test_time_and_memory():
    idle, _ = measure_part("idle", lambda: None)
    part, result = measure_part("work", lambda size, value: np.full(size, value).sum(),
                                30_000_000, value=1.0)
    assert result == 30_000_000 and part.name == "work" and not part.failure
    assert part.seconds > idle.seconds
    assert part.peak == pytest.approx(idle.peak + 0.24, abs=0.05)


def test_failures():
    def fail():
        raise MemoryError

    part, result = measure_part("work", fail, failures=(MemoryError,))
    assert result is None and part.failure == "MemoryError"
    with pytest.raises(MemoryError):
        measure_part("work", fail)
