# SPDX-License-Identifier: BSD-2-Clause
"""Files: the only readers of data, and durable writing."""
