# SPDX-License-Identifier: BSD-2-Clause
"""Schedules of boards: what each does in which order, and when, by simulation of events."""
