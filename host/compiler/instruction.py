# SPDX-License-Identifier: BSD-2-Clause
"""Instructions of a program: as the compiler states them, and in their issued form."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from hypercast.host.compiler.timing import Duration
from hypercast.reference.tensor import Tensor
from hypercast.rtl import isa

__all__ = ["Accumulators", "Instruction", "Issued", "Name"]

#: What an instruction uses: a part of a tensor, say.
Name: TypeAlias = Hashable


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
    """

    opcode: isa.Opcode
    waits: int
    duration: Duration
    operands: dict[str, int]

    def encode(self) -> int:
        """The instruction's word."""
        return isa.encode(self.opcode, waits=self.waits, **self.operands)


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
    path: int = 0  # cycles from its start to the end of the program, at least

    @cached_property
    def engine(self) -> isa.Engine:
        return isa.engine_of(self.opcode)

    @cached_property
    def operation(self) -> isa.Operation:
        return isa.OPERATIONS[self.opcode]
