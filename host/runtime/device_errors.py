# SPDX-License-Identifier: BSD-2-Clause
"""Errors of a chip that is driven."""

from hypercast.errors import HypercastError

__all__ = ["DeviceError", "DeviceTimeoutError", "MismatchError"]


class DeviceError(HypercastError, RuntimeError):
    """The device stopped with an error; the message names it and where the program was."""


class DeviceTimeoutError(DeviceError):
    """The device does not end a program as it should; the message holds its last state."""


class MismatchError(DeviceError):
    """Device and job do not fit: another chip, version or configuration."""
