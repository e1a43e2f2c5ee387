# SPDX-License-Identifier: BSD-2-Clause
"""Configurations that the solver can manage."""

from typing import Any

from hypercast.rtl.config import Config

__all__ = ["small"]


def small(**changes: Any) -> Config:
    """A configuration of narrow words and small memories: control does not look at payloads."""
    return Config(**{"lanes": 2, "element_width": 8, "buffer_depth": 2, "accumulator_rows": 16,
                     "weight_rows": 16, **changes})
