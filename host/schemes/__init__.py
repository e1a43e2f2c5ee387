# SPDX-License-Identifier: BSD-2-Clause
"""Schemes: how several boards share a training, and the devices that run a part of it."""
