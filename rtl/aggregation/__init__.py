# SPDX-License-Identifier: BSD-2-Clause
"""The aggregate engine: rows leave as multicasts, and are added up where they arrive."""
