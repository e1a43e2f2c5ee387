# SPDX-License-Identifier: BSD-2-Clause
"""A trial: its means, and its possible outcomes."""

from collections.abc import Callable, Collection
from pathlib import Path
from random import Random

from hypercast.errors import HypercastError

__all__ = ["READ", "REFUSED", "SAME", "Trial", "WrongError", "check_refusal", "outcome", "require"]

#: Outcomes of a trial: the input is refused; it still means the same as before the damage; or it is
#: accepted, and an independent reading of it says the same.
REFUSED, SAME, READ = "refused", "same", "as it says"
#: A message is for people.
_LONGEST = 1500


class WrongError(Exception):
    """An input was accepted that reads otherwise, or refused without a reason."""


class Trial:
    """The means of a trial: randomness and folders.

    Parameters
    ----------
    random : random.Random
        Decides everything.
    folder : pathlib.Path
        An empty folder.
    kept : pathlib.Path
        A folder for files that all trials of a process share.
    note : callable
        Is told, in a line, of each change.
    """

    def __init__(self, random: Random, folder: Path, kept: Path,
                 note: Callable[[str], None] = lambda text: None) -> None:
        self.random = random
        self.folder = folder
        self.kept = kept
        self.note = note

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return self.random.random() < probability


def require(condition: object, text: str) -> None:
    """Raise ``WrongError`` unless a condition holds."""
    if not condition:
        raise WrongError(text)


def check_refusal(message: str, names: Collection[str]) -> None:
    """Raise ``WrongError`` unless a message is one line that names one of ``names``."""
    require(message and "\n" not in message and len(message) <= _LONGEST,
            f"the refusal is not one line: {message[:400]!r}")
    require(any(name in message for name in names),
            f"the refusal names none of {', '.join(names)}: {message}")


def outcome(error: Exception, names: Collection[str]) -> str:
    """``REFUSED`` if an exception is a refusal of the project's; anything else is raised again."""
    if not isinstance(error, HypercastError):
        raise error
    check_refusal(str(error), names)
    return REFUSED
