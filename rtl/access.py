# SPDX-License-Identifier: BSD-2-Clause
"""What instructions read and write, and where: the entries of ``isa.OPERATIONS`` say it with these.

This module imports no Amaranth.
"""

import dataclasses
import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass

__all__ = ["Access", "Mode", "Store"]


class Store(enum.Enum):
    """Where instructions find what they read, and leave what they make."""

    MATRIX = "rows of a matrix"                    #: In memory, as all up to STATE.
    INDEX = "index of a word-sparse matrix"
    EDGE_SET = "edge set"
    SEND_LIST = "send list"
    MASK = "ReLU mask"
    LABELS = "labels"
    RANKS = "ranks of rows"
    STATE = "state of the optimiser"
    OPERANDS = "operand buffer"                    #: Left operands, close to the array.
    RIGHT = "bypassed right operands"              #: Of GRADIENT, close to the array.
    SEND = "rows to be sent"                       #: Close to the aggregate engine's sender.
    WEIGHTS = "weight bank"
    ARRAY = "accumulators of the array"            #: Of a buffer, as AGGREGATION.
    AGGREGATION = "accumulators of the aggregators"
    EXPONENT = "exponent file"                     #: With the peak of each tensor.


class Mode(enum.Enum):
    """What an instruction does with a place."""

    READ = "reads"
    WRITE = "writes"
    CHANGE = "reads, then writes"
    ADD = "adds to"
    TAKE = "reads and clears"


@dataclass(frozen=True, kw_only=True)
class Access:
    """A place that an instruction uses.

    Parameters
    ----------
    mode : Mode
        What the instruction does there.
    store : Store
        Kind of the place.
    field : str
        The operand that says which, or where it begins; empty if it begins at the first row.
    when : dict
        Operands to the values with which the place is used; it takes all of them.
    channel : str or int
        The channel of places in memory, or the operand that says which.
    opposite : bool
        Whether the place is in the other channel than ``channel`` says.
    panels : bool
        Whether it has as many panels as the operand ``panels``, ``stride`` words apart; else one.
    anywhere : bool
        Whether a list in memory says which rows are used, from the one that ``field`` says on; else
        they follow each other.
    """

    mode: Mode
    store: Store
    field: str
    when: Mapping[str, Collection[int]] = dataclasses.field(default_factory=dict)
    channel: str | int = 1
    opposite: bool = False
    panels: bool = False
    anywhere: bool = False

    def applies(self, fields: Mapping[str, int]) -> bool:
        """Whether a decoded instruction uses the place."""
        return all(fields[name] in values for name, values in self.when.items())

    def channel_of(self, fields: Mapping[str, int]) -> int:
        """The memory channel that a decoded instruction finds the place in."""
        channel = self.channel if isinstance(self.channel, int) else fields[self.channel]
        return 1 - channel if self.opposite else channel
