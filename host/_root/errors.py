# SPDX-License-Identifier: BSD-2-Clause
"""Errors that Hypercast raises itself, with a message for the user.

Any other exception that comes out of it is one of Python or a library. It is a defect, but where
the system refuses a file or memory: ``OSError``, ``MemoryError``.
"""

__all__ = ["HypercastError", "InputError", "NotFoundError", "ToolError", "require"]


class HypercastError(Exception):
    """Base of all errors of Hypercast; the message names the value, the place and the remedy."""


class InputError(HypercastError, ValueError):
    """A value that was given is refused."""


class NotFoundError(HypercastError, FileNotFoundError):
    """A program, package or folder that is needed is not on this machine."""


class ToolError(HypercastError, RuntimeError):
    """A program that Hypercast started has failed."""


def require(condition: object, message: str) -> None:
    """Raise ``InputError`` with a message unless a condition holds."""
    if not condition:
        raise InputError(message)
