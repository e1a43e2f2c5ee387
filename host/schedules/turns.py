# SPDX-License-Identifier: BSD-2-Clause
"""In which order a board of a pipeline takes the micro-batches of a step."""

from collections.abc import Iterator

__all__ = ["all_forward_all_backward", "one_forward_one_backward"]


def one_forward_one_backward(in_flight: int, count: int) -> Iterator[tuple[bool, int]]:
    """The passes in order: whether each is a forward pass, and its micro-batch.

    A board begins with as many forward passes as it may have in flight. From then on it goes one
    backward, one forward (Narayanan et al., PipeDream, 2019; with one update a step,
    PipeDream-Flush).

    Parameters
    ----------
    in_flight : int
        Micro-batches that have been forward, and not yet backward, at most.
    count : int
        Micro-batches.
    """
    ahead = min(in_flight, count)
    for number in range(ahead):
        yield True, number
    for number in range(count):
        yield False, number
        if number + ahead < count:
            yield True, number + ahead


def all_forward_all_backward(count: int) -> Iterator[tuple[bool, int]]:
    """The passes if all go forward, then back in reverse: whether each is forward, and its number.

    Parameters
    ----------
    count : int
        Micro-batches, or chunks of a graph.
    """
    for number in range(count):
        yield True, number
    for number in reversed(range(count)):
        yield False, number
