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
from hypercast.host.schemes.halo_exchange import HaloExchange, LateRows
from hypercast.host.schemes.part_rows import PartRows
from hypercast.host.schemes.scheme import Scheme, Trained
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState

__all__ = ["GraphInParallel"]


class GraphInParallel(Scheme):
    """Every board has the rows of its own vertices, and all weights.

    Before rows are summed over neighbours, forward or backward, each sends the rows that others
    read: ``HaloExchange`` has them cross, in the middle of a pass. Sums of gradients are added up
    once a step. That is the step of one board: sums are integers, and in any order the same.

    If it has ``LateRows``, rows of others are of the step before; see ``StaleParts``.

    Parameters
    ----------
    model : InitialModel
        The model with this board's part of the graph, whose rows are connected to the group.
    rank : int
        Which board this is.
    """

    def __init__(self, model: InitialModel, rank: int) -> None:
        super().__init__(model, rank)
        rows_here = model.sample.rows_here
        assert isinstance(rows_here, PartRows) and isinstance(rows_here.others, HaloExchange)
        self._ranks, self._late = rows_here.ranks, rows_here.others.late

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
        parts = yield from Gather((self._ranks, own))
        if not parts:
            return own, exponent
        found = np.empty((sum(len(ranks) for ranks, _ in parts), own.shape[1]), own.dtype)
        for ranks, rows in parts:
            found[ranks] = rows
        return found, exponent

    def state(self) -> Actions[TrainingState | None]:
        """The state, with the rows that all parts take next, on the leader."""
        parts = []
        if self._late:
            parts = yield from Gather(self._late.with_places())
        if self._rank:
            return None
        state = yield from ReadState()
        return replace(state, older=LateRows.join(parts)) if parts else state
