# SPDX-License-Identifier: BSD-2-Clause
"""Finds how to train a network on several boards: who does what, in which order."""
