# SPDX-License-Identifier: BSD-2-Clause
"""The samples of a step are dealt to boards; gradient sums cross between them once a step."""

from collections.abc import Sequence

import numpy as np

from hypercast.host.cluster.assignment import turns
from hypercast.host.schemes.actions import Actions, Begin, End, Maximum, ReadState, Through, Update
from hypercast.host.schemes.scheme import Scheme, Trained
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState

__all__ = ["SamplesInParallel"]

#: Below the exponent of every sample.
_NOTHING = -(1 << 20)


class SamplesInParallel(Scheme):
    """Every board has the whole model, and takes some of each step's samples.

    Parameters
    ----------
    model, rank
        As of ``Scheme``.
    counts : sequence of int
        How many samples of a step each board takes; a step has at least one for each board.
    """

    def __init__(self, model: InitialModel, rank: int, counts: Sequence[int]) -> None:
        super().__init__(model, rank)
        self._turns = turns(counts)

    def own(self, numbers: Sequence[int]) -> Sequence[int]:
        return [number for number, rank in zip(numbers, self._turns, strict=False)
                if rank == self._rank]

    def step(self, samples: Sequence[Sample]) -> Actions[Trained]:
        largest = max((sample.edge_exponent for sample in samples), default=_NOTHING)
        [exponent] = yield from Maximum(np.array([largest]))
        yield from Begin()
        found = None
        for sample in samples:
            sums = yield from Through(sample.with_edge_exponent(int(exponent)))
            found = sums if found is None else found + sums
        total = yield from self._totals.of(found)
        saturations = yield from Update(total)
        yield from End()
        return Trained(total.metrics, saturations)

    def state(self) -> Actions[TrainingState | None]:
        return None if self._rank else (yield from ReadState())
