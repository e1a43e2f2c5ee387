# SPDX-License-Identifier: BSD-2-Clause
"""How many processors there are for this process."""

import math
import os
from pathlib import Path

__all__ = ["processors"]

_CGROUP = Path("/sys/fs/cgroup")


def processors(cgroup: Path = _CGROUP) -> int:
    """Processors that this process may use at the same time, at least 1.

    A container's share of them is counted, rounded up.

    Parameters
    ----------
    cgroup : pathlib.Path
        Folder where the system says so.
    """
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        count = os.cpu_count() or 1
    return max(1, min(count, math.ceil(_quota(cgroup) or count)))


def _quota(cgroup: Path) -> float | None:
    """Processor seconds per second that are allowed; None if there is no limit."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            text = " ".join((cgroup / name).read_text() for name in names)
            quota, period = map(float, text.split())
        except (OSError, ValueError):  # no such file, or "max": no limit
            continue
        if quota > 0 and period > 0:
            return quota / period
    return None
