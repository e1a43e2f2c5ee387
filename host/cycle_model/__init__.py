# SPDX-License-Identifier: BSD-2-Clause
"""The cycle model: what a training step takes, without simulating its data."""
