# SPDX-License-Identifier: BSD-2-Clause
"""The vertices of a graph are divided among boards; rows cross before they are summed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hypercast.host.schemes.actions import (
    Actions,
    Begin,
    End,
    Evaluate,
    Gather,
    ReadEntries,
    ReadLogits,
    ReadState,
    Through,
    Update,
    WriteEntries,
)
from hypercast.host.schemes.scheme import Scheme, Trained
from hypercast.host.schemes.shared_rows import SharedRows
from hypercast.host.schemes.stale_shared_rows import StaleSharedRows
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState

__all__ = ["GraphInParallel"]


class GraphInParallel(Scheme):
    """Every board has the rows of its own vertices, and all weights.

    Before rows are summed over neighbours, forward or backward, each sends those that others read:
    ``SharedRows`` exchange them, in the middle of a pass. Sums of gradients are added up once a
    step. That is the step of one board: sums are integers, and in any order the same.

    If the rows are ``StaleSharedRows``, those of others are of the step before; see ``StaleParts``.

    Parameters
    ----------
    model : InitialModel
        The model with this board's part of the graph, whose rows are connected to the group.
    rank : int
        Which board this is.
    """

    def __init__(self, model: InitialModel, rank: int) -> None:
        super().__init__(model, rank)
        assert isinstance(model.sample.rows_here, SharedRows)
        self._rows_here = model.sample.rows_here

    def step(self, samples: Sequence[Sample]) -> Actions[Trained]:
        [sample] = samples
        yield from Begin()
        total = yield from self._totals.of((yield from Through(sample)))
        saturations = yield from Update(total)
        yield from End()
        return Trained(total.metrics, saturations)

    def evaluate(self) -> Actions[Metrics]:
        metrics = yield from Evaluate()
        entries = yield from ReadEntries()
        yield from WriteEntries((yield from self._totals.entries(entries)))
        return (yield from self._totals.metrics(metrics))

    def logits(self) -> Actions[tuple[IntArray, int]]:
        own, exponent = yield from ReadLogits()
        parts = yield from Gather((self._rows_here.ranks, own))
        if not parts:
            return own, exponent
        found = np.empty((sum(len(ranks) for ranks, _ in parts), own.shape[1]), own.dtype)
        for ranks, rows in parts:
            found[ranks] = rows
        return found, exponent

    def state(self) -> Actions[TrainingState | None]:
        """The state, with the rows that all parts take next, on the leader."""
        parts = []
        if isinstance(self._rows_here, StaleSharedRows):
            parts = yield from Gather(self._rows_here.kept_places())
        if self._rank:
            return None
        state = yield from ReadState()
        return replace(state, older=StaleSharedRows.together(parts)) if parts else state
