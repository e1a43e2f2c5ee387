# SPDX-License-Identifier: BSD-2-Clause
"""Training: recipes, the trainer, its run folder and checkpoints, and its measures."""
