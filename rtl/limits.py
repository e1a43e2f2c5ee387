"""Limits and paces of blocks, which hardware and compiler share."""

from hypercast.rtl.config import Config

__all__ = [
    "ADAM_CYCLES", "BIAS_GROUPS", "BURST", "CLASSES", "ISSUE_CYCLES", "QUOTIENT_CYCLES",
    "VECTOR_ISSUE_CYCLES", "VECTOR_TURNAROUND", "group_size", "row_interval",
]

#: Most words a read or write burst can have.
BURST = 16
#: Most classes a row of logits can have.
CLASSES = 512
#: Cycles between the issues of two instructions, at least.
ISSUE_CYCLES = 2
#: The same if the second is one of the vector unit, for which the controller chooses exponents.
VECTOR_ISSUE_CYCLES = 9
#: Cycles from when the vector unit is seen to be idle until its next instruction is issued.
VECTOR_TURNAROUND = 8
#: Cycles from a divisor to its quotient, in LOSS.
QUOTIENT_CYCLES = 9
#: Cycles by which Adam's pipeline is longer than SGD's.
ADAM_CYCLES = 34
#: Groups of lanes in which biases are aligned, at most.
BIAS_GROUPS = 8


def group_size(config: Config) -> int:
    """Logits that LOSS works on in a cycle: a panel of narrow chips, a part of one of wide ones.

    A lane takes much area, and few steps wait for LOSS.
    """
    return min(config.lanes, 4)


def row_interval(config: Config) -> int:
    """Cycles from a row of LOSS to the next, at least.

    With two lanes, where rows of many classes have many panels, a small divider will do.
    """
    return QUOTIENT_CYCLES if config.lanes == 2 else 1
