"""Names of a program's phases."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

__all__ = ["PhaseKind", "PhaseName"]


class PhaseKind(StrEnum):
    """What a program does in a phase."""

    FORWARD = "forward"
    LOSS = "loss"
    BACKWARD = "backward"
    UPDATE = "update"
    EVALUATE = "evaluate"


_NAME = re.compile(rf"({'|'.join(PhaseKind)})(?: ([1-9]\d*))?", re.ASCII)


@dataclass(frozen=True)
class PhaseName:
    """A phase; as text, ``forward 1`` or ``loss``.

    Parameters
    ----------
    kind : PhaseKind
        What is done.
    layer : int
        For which layer, from 1; 0 if it is for all of them.
    """

    kind: PhaseKind
    layer: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.layer}" if self.layer else self.kind.value

    @classmethod
    def read(cls, text: str) -> Self:
        """The phase of a name that was read.

        Raises
        ------
        ValueError
            If there is no such phase.
        """
        match = _NAME.fullmatch(text)
        if not match:
            raise ValueError(f"{text!r} is no phase of a program")
        return cls(PhaseKind(match[1]), int(match[2] or 0))
