# SPDX-License-Identifier: BSD-2-Clause
"""Figures of the documentation, drawn from the code: ``python -m docs.figures`` draws them anew."""
