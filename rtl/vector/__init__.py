# SPDX-License-Identifier: BSD-2-Clause
"""The vector unit: rounding, bias and activation, the loss, and the optimiser."""
