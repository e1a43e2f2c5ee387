# SPDX-License-Identifier: BSD-2-Clause
"""Schedules: in which order the boards of a pipeline go forward and back."""

from collections.abc import Callable
from dataclasses import dataclass

from hypercast.host.schedules.pipeline import Pipeline

__all__ = ["SCHEDULES", "PipelineSchedule"]


@dataclass(frozen=True, kw_only=True)
class PipelineSchedule:
    """How a pipeline is worked off.

    Parameters
    ----------
    title : str
        What it is, in a line.
    in_flight : callable
        Micro-batches that a board of each stage may have in flight: a list of numbers, from a
        ``Pipeline`` and the number of micro-batches.
    hidden : bool
        Whether a transfer begins with what makes its rows, and goes on beside it. Else it begins
        after that.
    two_engines : bool
        Whether a board goes forward with one micro-batch and back with another at the same time;
        either takes as long as both.
    forward_first : bool
        Whether all micro-batches have gone forward before the first goes back.
    """

    title: str
    in_flight: Callable[[Pipeline, int], list[int]]
    hidden: bool = False
    two_engines: bool = False
    forward_first: bool = False


def _behind(factor: int, more: int) -> Callable[[Pipeline, int], list[int]]:
    """``factor`` for each board of the stages behind, and ``more`` for each board of the stage.

    The boards of a stage share them (Narayanan et al., PipeDream, 2019).
    """
    def count(pipeline: Pipeline, micro_batches: int) -> list[int]:
        boards = [len(stage.boards) for stage in pipeline.stages]
        behind = [0] * len(boards)
        for number in reversed(pipeline.order):
            for edge in pipeline.out_of(number):
                behind[number] = max(behind[number], behind[edge.target] + boards[edge.target])
        return pipeline.per_board([factor * one + more * own
                                   for one, own in zip(behind, boards, strict=True)])
    return count


#: Schedules by name.
SCHEDULES = {
    "1F1B": PipelineSchedule(title="one forward, one backward; transfers beside computing",
                             in_flight=_behind(1, 1), hidden=True),
    "FBP": PipelineSchedule(title="forward and backward at once; transfers beside computing",
                            in_flight=_behind(2, 2), hidden=True, two_engines=True),
    "SNO": PipelineSchedule(title="one forward, one backward; transfers after computing",
                            in_flight=_behind(1, 1)),
    "SO": PipelineSchedule(title="as SNO, with twice as many micro-batches in flight",
                           in_flight=_behind(2, 1)),
    "paths": PipelineSchedule(title="as SNO, with as many in flight as the longest path behind "
                                    "takes",
                              in_flight=lambda pipeline, _: pipeline.in_flight(hidden=False)),
    "GPipe": PipelineSchedule(title="all forward, then all backward",
                              in_flight=lambda pipeline, count: [count] * len(pipeline.stages),
                              forward_first=True),
}
