# SPDX-License-Identifier: BSD-2-Clause
"""Graphs: their checks and orders, files they are read from, and samples of them."""
