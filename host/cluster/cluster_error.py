# SPDX-License-Identifier: BSD-2-Clause
"""The error of a training's boards."""

from hypercast.errors import HypercastError

__all__ = ["ClusterError"]


class ClusterError(HypercastError, RuntimeError):
    """Something is wrong with the boards of a training; says which board, and what to do."""
