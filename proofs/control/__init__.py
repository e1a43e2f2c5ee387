# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of ``rtl/control``."""
