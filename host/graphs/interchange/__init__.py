# SPDX-License-Identifier: BSD-2-Clause
"""Graphs of other libraries, taken apart; none of these libraries is imported for it."""
