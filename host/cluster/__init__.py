# SPDX-License-Identifier: BSD-2-Clause
"""Several boards: what they are, how they are joined, and which of them does what."""
