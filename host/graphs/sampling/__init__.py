# SPDX-License-Identifier: BSD-2-Clause
"""Mini-batches: neighbour sampling and GraphSAINT's samplers, drawn alike on every machine."""
