# SPDX-License-Identifier: BSD-2-Clause
"""Ways to split a training over boards, one in each module."""
