# SPDX-License-Identifier: BSD-2-Clause
"""Memory channels, in the chip or behind AXI4, and the crossbars and weights of a core."""
