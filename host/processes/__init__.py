# SPDX-License-Identifier: BSD-2-Clause
"""Processes that train together: their groups, MPI, clocks, and how they start and end."""
