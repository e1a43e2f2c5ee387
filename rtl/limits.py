# SPDX-License-Identifier: BSD-2-Clause
"""Limits and paces of blocks, which hardware and compiler share."""

from hypercast.rtl.config import Config
from hypercast.rtl.isa import CLASSES_WIDTH

__all__ = [
    "ADAM_CYCLES", "BIAS_GROUPS", "BURST", "CLASSES", "DRAIN_CYCLES", "ERROR_WIDTH",
    "ISSUE_CYCLES", "LOOP_CYCLES", "OUTSTANDING", "PATIENCE", "PEAK_WIDTH", "QUOTIENT_CYCLES",
    "UPDATE_CYCLES", "VECTOR_ISSUE_CYCLES", "VECTOR_TURNAROUND", "array_cycles", "bursts_under_way",
    "group_size", "refill_words", "row_interval",
]

#: Most words a read or write burst can have.
BURST = 16
#: Bursts that an AXI4 manager, or a simulated memory channel, can have under way.
OUTSTANDING = 64
#: Most classes a row of logits can have.
CLASSES = 1 << CLASSES_WIDTH - 1
#: Cycles without any movement after which a program counts as stuck. The longest that nothing moves
#: in a sound chip is a memory's latency, at most 1024 cycles and a refresh.
PATIENCE = 1 << 14
#: Bits of the errors that a core reports.
ERROR_WIDTH = 4
#: Bits of a peak: of the bit length of a magnitude.
PEAK_WIDTH = 6
#: Cycles between the issues of two instructions, at least.
ISSUE_CYCLES = 2
#: Cycles from an issue to a vector instruction's issue, at least: exponents have to be chosen.
VECTOR_ISSUE_CYCLES = 9
#: Cycles from when an instruction of a loop is taken until the next one of the loop can be.
LOOP_CYCLES = 17
#: Cycles from when the vector unit is seen to be idle until its next instruction is issued.
VECTOR_TURNAROUND = 8
#: Cycles from a divisor to its quotient, in LOSS.
QUOTIENT_CYCLES = 9
#: Cycles from the fetch of a row of accumulators to its word, in DRAIN.
DRAIN_CYCLES = 12
#: Cycles from an element of state to the new one, in UPDATE with SGD.
UPDATE_CYCLES = 17
#: Cycles by which Adam's pipeline is longer than SGD's.
ADAM_CYCLES = 34
#: Groups of lanes in which biases are aligned, at most.
BIAS_GROUPS = 8


def array_cycles(config: Config) -> int:
    """Cycles from a word to its result in the systolic array, but for its multiplexers."""
    return 2 * config.lanes + 2


def bursts_under_way(config: Config) -> int:
    """Bursts that each memory channel can have under way.

    They hide the latency even if they are of a word each, unless that takes more than an AXI4
    manager has under way.
    """
    return max(16, min(OUTSTANDING, config.memory_latency + 8))


def group_size(config: Config) -> int:
    """Logits that LOSS works on in a cycle: a panel on narrow chips, half a panel on wide ones.

    A lane takes much area. Chips with many lanes have little else to do while they wait for LOSS.
    """
    return max(min(config.lanes, 4), config.lanes // 2)


def refill_words(config: Config) -> int:
    """Words of an edge stream that are requested at a time, while the rest of its buffer lasts."""
    return max(1, config.edge_buffer // 4)


def row_interval(config: Config) -> int:
    """Cycles from a row of LOSS to the next, at least.

    With two lanes, where rows of many classes have many panels, a small divider will do.
    """
    return QUOTIENT_CYCLES if config.lanes == 2 else 1
