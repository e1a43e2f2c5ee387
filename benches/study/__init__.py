# SPDX-License-Identifier: BSD-2-Clause
"""Full-size study: training steps on sampled batches of large graphs, as models on both sides."""

__all__ = []
