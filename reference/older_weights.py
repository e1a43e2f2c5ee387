# SPDX-License-Identifier: BSD-2-Clause
"""Training with gradients of older weights, so that steps overlap in a pipeline.

Each layer has a staleness. A step's passes, forward and backward, take the weights that a layer had
so many updates ago; the optimiser's state belongs to the newest weights. Two systems train so:

- Two versions: all layers are one step late, ``W(t+1) = W(t) - rate * G(W(t-1))`` (Narayanan et
  al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021: PipeDream-2BW).
- Weight stashing: layers are in N stages, and the layers of stage i (from 1) are N - i steps late.
  A step has passed stage i when the N - i steps before it have not come back there. So its backward
  pass takes the weights that its forward pass saw (Narayanan et al., PipeDream: Generalized
  Pipeline Parallelism for DNN Training, SOSP 2019; there, a step is one mini-batch).
"""

from collections.abc import Sequence
from dataclasses import replace

from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.rows import Older
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["OlderWeightsGnn", "stash_staleness"]


def stash_staleness(stages: Sequence[range]) -> tuple[int, ...]:
    """The staleness of each layer with weight stashing.

    Parameters
    ----------
    stages : sequence of range
        The layers of each stage, from 1, in order: all of them.
    """
    return tuple(len(stages) - number for number, stage in enumerate(stages, 1) for _ in stage)


class OlderWeightsGnn(FixedGnn):
    """A network in training, whose passes take weights of some steps before.

    Evaluations take the newest. In the first steps, the initial weights stand for older ones.

    Parameters
    ----------
    model : InitialModel
        The model that is trained.
    staleness : sequence of int
        By how many updates the weights of each layer are older than the newest.

    Attributes
    ----------
    versions : dict
        Parameter to its older operands, oldest first: as many as its layer's staleness.
    """

    versions: dict[Tensor, tuple[Older, ...]]

    def __init__(self, model: InitialModel, staleness: Sequence[int]) -> None:
        self._staleness = tuple(staleness)
        super().__init__(model)

    def staleness(self, name: Tensor) -> int:
        """By how many updates a parameter is older than the newest one."""
        return self._staleness[name.layer - 1]

    @property
    def newest(self) -> dict[Tensor, Older]:
        """The parameters after the last update: mantissas and exponents."""
        return {name: Older(self.tensors[name], self.exponents[name]) for name in self.kept}

    @property
    def older(self) -> dict[Tensor, Older]:
        """The parameters that passes of the next step take: mantissas and exponents."""
        return {name: (*self.versions[name], one)[0] for name, one in self.newest.items()}

    def step_sums(self) -> StepSums:
        """Forward and backward with the older parameters, see ``FixedGnn``."""
        begun, newest = self._begun, {name: self.tensors[name] for name in self.kept}
        older = self.older
        entries = {self.network.exponent_entry(name): one.exponent for name, one in older.items()
                   if self.versions[name]}
        self._begun = {**begun, **{entry: (value, None) for entry, value in entries.items()}}
        self.tensors.update({name: one.values for name, one in older.items()})
        try:
            sums = super().step_sums()
        finally:
            self._begun = begun
            self.tensors.update(newest)
        return replace(sums, entries={**sums.entries, **{entry: begun[entry] for entry in entries}})

    def update(self, sums: StepSums) -> None:
        """End a step: the newest parameters become older ones."""
        self.exponents.load(sums.entries)
        newest = self.newest
        super().update(sums)
        self.versions = {name: (*versions, newest[name])[1:] if versions else ()
                         for name, versions in self.versions.items()}

    def state(self) -> TrainingState:
        """The ``TrainingState`` now."""
        return replace(super().state(), versions={
            name: versions for name, versions in self.versions.items() if versions})

    def load_state(self, state: TrainingState) -> None:
        """Go on from a ``TrainingState``, see ``FixedGnn``."""
        super().load_state(state)
        self.versions = {name: state.versions.get(name, (one,) * self.staleness(name))
                         for name, one in self.newest.items()}
