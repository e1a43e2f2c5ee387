# SPDX-License-Identifier: BSD-2-Clause
"""The serial link: a UART, frames with checksums, and commands that are carried out once."""
