# SPDX-License-Identifier: BSD-2-Clause
"""The interface of all ways to a chip."""
