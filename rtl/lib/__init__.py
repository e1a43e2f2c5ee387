# SPDX-License-Identifier: BSD-2-Clause
"""Parts that several blocks use: memories, arbiters, streams, readers."""
