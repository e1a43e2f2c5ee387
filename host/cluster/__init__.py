# SPDX-License-Identifier: BSD-2-Clause
"""Several boards: what they are, how they are joined, and a process for each that trains."""
