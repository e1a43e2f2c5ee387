"""Training with two versions of the weights: gradients are those of weights one step older.

``W(t+1) = W(t) - rate * G(W(t-1))`` (Narayanan et al., Memory-Efficient Pipeline-Parallel DNN
Training, 2021: PipeDream-2BW). So a step can begin while the one before is still under way.
"""

from dataclasses import replace

from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.rows import Older
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["TwoVersionsGnn"]


class TwoVersionsGnn(FixedGnn):
    """A network in training, whose passes take the weights before the last update.

    The optimiser's state is that of the newest weights, and so are evaluations. In the first step
    there are no older ones.

    Attributes
    ----------
    older : dict
        The parameters that passes of the next step take: mantissas and exponents.
    """

    older: dict[Tensor, Older]

    @property
    def newest(self) -> dict[Tensor, Older]:
        """The parameters after the last update, likewise."""
        return {name: Older(self.tensors[name], self.exponents[name]) for name in self.kept}

    def step_sums(self) -> StepSums:
        """Forward and backward with the older parameters, see ``FixedGnn``."""
        begun, newest = self._begun, {name: self.tensors[name] for name in self.kept}
        entries = {self.network.exponent_entry(name): one.exponent
                   for name, one in self.older.items()}
        self._begun = {**begun, **{entry: (value, None) for entry, value in entries.items()}}
        self.tensors |= {name: one.values for name, one in self.older.items()}
        try:
            sums = super().step_sums()
        finally:
            self._begun = begun
            self.tensors |= newest
        return replace(sums, entries={**sums.entries, **{entry: begun[entry] for entry in entries}})

    def update(self, sums: StepSums) -> None:
        """End a step: the newest parameters become the older ones."""
        self.exponents.load(sums.entries)
        newest = self.newest
        super().update(sums)
        self.older = newest

    def state(self) -> TrainingState:
        """The ``TrainingState`` now."""
        return replace(super().state(), older=dict(self.older))

    def load_state(self, state: TrainingState) -> None:
        """Go on from a ``TrainingState``, see ``FixedGnn``."""
        super().load_state(state)
        self.older = {name: state.older.get(name, one) for name, one in self.newest.items()}
