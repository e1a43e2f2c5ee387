# SPDX-License-Identifier: BSD-2-Clause
"""Cores in turn on the logic of one, for FPGAs that are too small for all of them."""
