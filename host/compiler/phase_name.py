# SPDX-License-Identifier: BSD-2-Clause
"""Names of a program's phases."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from hypercast.errors import InputError

__all__ = ["PhaseKind", "PhaseName"]


class PhaseKind(StrEnum):
    """The work of a program in a phase."""

    FORWARD = "forward"
    LOSS = "loss"
    BACKWARD = "backward"
    UPDATE = "update"
    EVALUATE = "evaluate"


_NAME = re.compile(rf"({'|'.join(PhaseKind)})(?: ([1-9]\d*)(?:-([1-9]\d*))?)?", re.ASCII)


@dataclass(frozen=True)
class PhaseName:
    """A phase; as text, ``forward 1``, ``forward 5-8`` or ``loss``.

    Parameters
    ----------
    kind : PhaseKind
        What is done.
    layer : int
        For which layer, from 1; 0 if it is for all of them.
    last : int
        The last one, if it is for a run of layers.
    """

    kind: PhaseKind
    layer: int = 0
    last: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.layers}" if self.layer else self.kind.value

    @property
    def layers(self) -> str:
        """The layers as text; empty if it is for all of them."""
        if not self.layer:
            return ""
        return f"{self.layer}-{self.last}" if self.last else f"{self.layer}"

    @classmethod
    def read(cls, text: str) -> Self:
        """The phase of a name that was read.

        Raises
        ------
        InputError
            If there is no such phase.
        """
        match = _NAME.fullmatch(text)
        if not match or (match[3] and int(match[3]) <= int(match[2])):
            raise InputError(f"{text!r} is no phase of a program")
        return cls(PhaseKind(match[1]), int(match[2] or 0), int(match[3] or 0))
