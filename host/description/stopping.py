# SPDX-License-Identifier: BSD-2-Clause
"""When a training ends before its last epoch."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np

from hypercast.errors import InputError
from hypercast.host.description.conversion import (
    DescriptionError,
    Within,
    call_text,
    check_fields,
    given_fields,
)
from hypercast.host.graphs.graph_outline import Labelled
from hypercast.rtl.isa import Split

__all__ = ["MONITORS", "Stopping"]

#: What can be watched, the default first, and whether more of it is better.
MONITORS = {"validation_loss": False, "validation_accuracy": True,
            "validation_micro_f1": True}


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """Early stopping: the training ends when no epoch of the last few was the best so far.

    Parameters
    ----------
    patience : int, optional
        How many; the training goes on to its last epoch if not given. Else, the parameters of the
        best epoch are put back at the end.
    monitor : str, optional
        What the best epoch is the best in, one of ``MONITORS``; with patience, the validation loss
        if not given.

    Raises
    ------
    DescriptionError
        If a value is out of range.
    """

    patience: Annotated[int, Within(1)] | None = None
    monitor: str | None = None

    def __post_init__(self) -> None:
        check_fields("stopping", self)
        if self.monitor is not None and self.monitor not in MONITORS:
            raise DescriptionError(f"[stopping] monitor must be one of {', '.join(MONITORS)}, not "
                                   f"{self.monitor!r}", "stopping", "monitor")
        if self.patience is None and self.monitor is not None:
            raise DescriptionError("[stopping] monitor is what patience watches; give patience as "
                                   "well", "stopping", "monitor")
        if self.patience is not None and self.monitor is None:
            object.__setattr__(self, "monitor", next(iter(MONITORS)))

    def check(self, graph: Labelled) -> None:
        """Raise ``InputError`` if a training on ``graph`` has nothing of the kind to watch."""
        if self.patience is None:
            return
        if not np.any(graph.splits == Split.VALIDATION):
            raise InputError("patience needs vertices to validate on, but the graph has none; give "
                             "it another split")
        score, other = ("micro_f1", "accuracy") if graph.multi_label else ("accuracy", "micro_f1")
        if self.monitor == f"validation_{other}":
            raise InputError(f"monitor is {self.monitor}, which labels like this graph's do not "
                             f"have; watch validation_{score}")

    def better(self, value: float, best: float) -> bool:
        """Whether ``value`` of the monitored quantity is better than ``best``, the best so far."""
        assert self.monitor  # there is one with patience
        return value > best if MONITORS[self.monitor] else value < best

    def __repr__(self) -> str:
        return call_text("Stopping", given_fields(self))

    def values(self) -> dict[str, Any]:
        """Arguments of ``Stopping`` that are given."""
        return {key: value for key, value in asdict(self).items() if value is not None}
