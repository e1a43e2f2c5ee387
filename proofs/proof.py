# SPDX-License-Identifier: BSD-2-Clause
"""What is proved of a block."""

from collections.abc import Callable
from dataclasses import dataclass

from hypercast.errors import InputError
from hypercast.proofs.solver import Bench

__all__ = ["Proof"]


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A property of a block of one size.

    Parameters
    ----------
    block : str
        Name of the block, which its module has, too.
    claim : str
        The property, in one line.
    size : str
        Parameters of the block that it holds for; empty if it has none.
    bench : callable
        Makes the ``Bench``.
    cycles : int or None
        How many cycles from reset are covered; None: all, by induction.
    limit : str
        Why not all cycles are.
    slow : bool
        Takes more than a few seconds.

    Raises
    ------
    InputError
        If a proof of some cycles does not say why not of all, or the other way round.
    """

    block: str
    claim: str
    bench: Callable[[], Bench]
    size: str = ""
    cycles: int | None = None
    limit: str = ""
    slow: bool = False

    def __post_init__(self) -> None:
        if (self.cycles is None) == bool(self.limit):
            raise InputError(f"{self.name}: proofs of some cycles, and only those, have a limit")

    @property
    def name(self) -> str:
        """Block, size and claim."""
        return f"{self.block}{f' ({self.size})' if self.size else ''}: {self.claim}"
