# SPDX-License-Identifier: BSD-2-Clause
"""Who does what of a training that several boards share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from hypercast.host.description.conversion import DescriptionError

__all__ = ["GRAPH", "LAYERS", "SAMPLES", "SCHEMES", "Assignment", "AssignmentError", "turns"]

#: Ways to share a training: what each board has its own of.
SCHEMES = (SAMPLES, GRAPH, LAYERS) = ("samples", "graph", "layers")


#: What a message may name, and what else it is called on the command line.
_OPTIONS = {"count": "--boards", **{name: f"--{name}" for name in (
    "scheme", "cluster", "plan", "staleness", "smoothing", "stages", "chunks", "timeout")}}


class AssignmentError(DescriptionError):
    """Boards cannot train together in such a way.

    Attributes
    ----------
    on_command_line : str
        The message with names of options.
    """

    def __init__(self, text: str, section: str = "", key: str = "") -> None:
        super().__init__(text, section, key)
        self.on_command_line = str(self)

    @classmethod
    def of(cls, key: str, text: str, *values: object) -> Self:
        """An error about one of the values that say how boards train together.

        Parameters
        ----------
        key : str
            The value's name.
        text : str
            What follows the name: ``{}`` stands for one of the ``values``, and ``{scheme}`` for the
            name of another one.
        """
        found = cls(f"[boards] {key} {text.format(*values, **{one: one for one in _OPTIONS})}",
                    "boards", key)
        found.on_command_line = str(cls(f"{_OPTIONS[key]} {text.format(*values, **_OPTIONS)}"))
        return found


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """How boards share a training. What is not given is divided evenly.

    Parameters
    ----------
    scheme : str, optional
        What each has its own of, one of ``SCHEMES``; by default samples if there are such, else a
        part of the graph.
    boards : tuple of str
        Names of the boards in a cluster, in the order of ranks. By default they are the first
        ones of the cluster.
    micro_batches : tuple of int
        With samples: how many of a step each board takes.
    parts : tuple of float
        With a graph in parts: which share of the work each board has.
    runs : tuple of range
        With layers: the layers of each board, from 1.
    in_flight : tuple of int
        With layers: micro-batches that each board has begun and not done, at most.
    smoothing : float, optional
        With a graph in parts: if it is given, rows of other boards are those of the step before, or
        a running mean that keeps this share of itself in each step. The bits are not those of one
        board, but of as many parts.
    versions : int
        With layers: versions of the weights. With 2, gradients are of weights one step older, so
        that a step begins while the one before is under way. The bits are not those of exact
        training.
    stages : int
        With layers: if it is not 0, weights are stashed as by so many boards, so that gradients of
        layers in stage ``i`` are of weights ``stages - i`` steps older. The bits are those of so
        many stages, on any number of boards; those of one stage are exact.
    chunks : int
        With layers of a whole graph: if it is not 0, the vertices go through them in so many
        chunks. Each takes rows of the step before of those to come. The bits are those of so many
        chunks, on any number of boards.
    """

    scheme: str | None = None
    boards: tuple[str, ...] = ()
    micro_batches: tuple[int, ...] = ()
    parts: tuple[float, ...] = ()
    runs: tuple[range, ...] = ()
    in_flight: tuple[int, ...] = ()
    smoothing: float | None = None
    versions: int = 1
    stages: int = 0
    chunks: int = 0

    @property
    def stale(self) -> bool:
        """Whether something is older than on one board."""
        return self.smoothing is not None or self.older_weights or self.chunks > 0

    @property
    def older_weights(self) -> bool:
        """Whether gradients are of older weights."""
        return self.versions > 1 or self.stages > 1


def turns(counts: Sequence[int]) -> list[int]:
    """Which board takes each micro-batch of a step, if each takes a number of them.

    They take turns, so that a step with fewer micro-batches is shared as well as can be.
    """
    places = sorted(((turn + 0.5) / count, board) for board, count in enumerate(counts)
                    for turn in range(count))
    return [board for _, board in places]
