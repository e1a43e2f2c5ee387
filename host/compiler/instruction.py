# SPDX-License-Identifier: BSD-2-Clause
"""Instructions of a program: as the compiler states them, and in their issued form."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from hypercast.host.compiler.timing import Duration
from hypercast.reference.tensor import Tensor
from hypercast.rtl import isa
from hypercast.rtl.loop import encode_strides

__all__ = ["SHARED", "Accumulators", "Instruction", "Issued", "IssuedLoop", "Name",
           "name_turn"]

#: What an instruction uses: a part of a tensor, say.
Name: TypeAlias = Hashable
#: Name of the place in the operand buffer that matrices share which have several strips and do not
#: fit. What a traversal does to a strip there begins with filling it.
SHARED: Name = ("operand", "shared")


def name_turn(names: Iterable[Name], turn: int) -> set[Name]:
    """Names with another one for the ``SHARED`` place, of each turn that something has there."""
    return {(SHARED, turn) if name == SHARED else name for name in names}


@dataclass(eq=False)
class Accumulators:
    """A buffer of accumulators, from the first addition until all is taken out again.

    All that add come before all that take. The schedule chooses the buffer.

    Parameters
    ----------
    kind : isa.DrainSource
        Whose.
    after : Accumulators or None
        Additions begin after the last addition to ``after`` has been issued.
    """

    kind: isa.DrainSource
    after: "Accumulators | None" = None


@dataclass(frozen=True, kw_only=True)
class Issued:
    """An instruction in its place in a program.

    Parameters
    ----------
    opcode : isa.Opcode
        What it does.
    waits : int
        Other engines that it waits for.
    duration : Duration
        Cycles it is expected to take.
    operands : dict
        The instruction's other fields, ``phase`` included.
    looped : bool
        Whether it is of a loop: it takes longer until it can be issued.
    label : Tensor or None
        What it was given a label for.
    """

    opcode: isa.Opcode
    waits: int
    duration: Duration
    operands: dict[str, int]
    looped: bool = False
    label: Tensor | None = None

    def encode(self) -> int:
        """The instruction's word."""
        return isa.encode(self.opcode, waits=self.waits, **self.operands)


@dataclass(frozen=True, kw_only=True)
class IssuedLoop:
    """A loop over strips of rows in its place in a program, see ``rtl.loop``.

    Parameters
    ----------
    strips, lags : int
        Fields of LOOP.
    body : tuple of (Issued, int, dict)
        Instructions of the first strip, with what they lag and their strides.
    issued : tuple of Issued
        All instructions in the order in which they are issued.
    """

    strips: int
    lags: int
    body: tuple[tuple[Issued, int, dict[str, int]], ...]
    issued: tuple[Issued, ...]

    @property
    def rows(self) -> int:
        """Rows that it takes."""
        return 1 + 2 * len(self.body)

    def encode(self) -> list[int]:
        """The loop's rows, encoded."""
        return [isa.encode(isa.Opcode.LOOP, strips=self.strips, length=len(self.body),
                           lags=self.lags),
                *(word for first, lag, strides in self.body
                  for word in (first.encode(), encode_strides(first.opcode, lag=lag, **strides)))]


@dataclass(eq=False)
class Instruction:
    """An instruction before it has a place; parameters as of ``Schedule.add``."""

    opcode: isa.Opcode
    duration: Duration
    reads: set[Name]
    writes: set[Name]
    accumulators: Accumulators | None
    opens: Tensor | None
    label: Tensor | None
    operands: dict[str, int]
    #: Instructions that have to be issued first.
    before: set["Instruction"] = field(default_factory=set)
    after: list["Instruction"] = field(default_factory=list)
    follows: frozenset[Name] = frozenset()  # names that it may read while they are written
    chain: "Instruction | None" = None  # of ``before``, the one it may run at the same time as
    family: Name = None  # of those that differ in their strip of rows: equally urgent
    strip: int | None = None  # first row of the only strip of rows that it works on
    path: int = 0  # cycles from its start to the end of the program, at least

    @cached_property
    def engine(self) -> isa.Engine:
        return isa.engine_of(self.opcode)

    @cached_property
    def operation(self) -> isa.Operation:
        return isa.OPERATIONS[self.opcode]
