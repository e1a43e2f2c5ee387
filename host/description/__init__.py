# SPDX-License-Identifier: BSD-2-Clause
"""Descriptions of trainings: graph, model, recipe, device; in Python, in a file, as options."""
