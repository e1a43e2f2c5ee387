# SPDX-License-Identifier: BSD-2-Clause
"""The control unit, and each core's end of it: host port, controller, exponents, counters."""
