# SPDX-License-Identifier: BSD-2-Clause
"""The driver's answers about a card of NVIDIA: its version, and the power that the card draws."""

import shutil
import subprocess

__all__ = ["read_driver", "read_watts"]

#: Seconds after which the driver is taken not to answer.
_PATIENCE = 30


def read_driver() -> str | None:
    """Version of the driver; None if it is not told."""
    return _query("driver_version")


def read_watts(uuid: str) -> float | None:
    """Watts that a card draws; None if they are not told.

    Parameters
    ----------
    uuid : str
        The card's identifier, with or without the prefix ``GPU-``.
    """
    try:
        return float(_query("power.draw", f"--id=GPU-{uuid.removeprefix('GPU-')}") or "")
    except ValueError:
        return None


def _query(field: str, *card: str) -> str | None:
    """A field of one card, or of the first one; None if the driver does not tell it."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    try:
        result = subprocess.run(
            [program, *card, f"--query-gpu={field}", "--format=csv,noheader,nounits"],
            capture_output=True, text=True, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = result.stdout.splitlines()
    return lines[0].strip() if lines and not result.returncode else None
