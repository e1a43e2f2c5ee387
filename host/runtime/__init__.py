# SPDX-License-Identifier: BSD-2-Clause
"""Chips that are reached: transports, the driver, devices and what is compared."""
