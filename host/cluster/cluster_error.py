# SPDX-License-Identifier: BSD-2-Clause
"""What is raised if something is wrong with the boards of a training."""

from hypercast.errors import HypercastError

__all__ = ["ClusterError"]


class ClusterError(HypercastError, RuntimeError):
    """Something is wrong with the boards of a training; says which board, and what to do."""
