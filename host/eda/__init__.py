# SPDX-License-Identifier: BSD-2-Clause
"""Tools of electronic design: synthesis, place and route, board builds, integration files."""
