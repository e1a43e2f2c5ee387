# SPDX-License-Identifier: BSD-2-Clause
"""The chip as files for other tools: Verilog, netlists and their manifest."""
