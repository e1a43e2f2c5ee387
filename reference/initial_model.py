# SPDX-License-Identifier: BSD-2-Clause
"""The beginning of every device: network, recipe, sample, and the state before the first step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, overload

import numpy.typing as npt

from hypercast.reference.array_types import FloatMatrix, IntArray, SparseArray
from hypercast.reference.initial_state import initial_state
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Mantissas, Sample
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.reference.update_rules import UpdateRules
from hypercast.reference.weight_operands import weight_operands

__all__ = ["InitialModel"]


@dataclass(frozen=True, kw_only=True, eq=False)
class InitialModel:
    """A model before its first step. Nothing that trains it changes it.

    Parameters
    ----------
    network : Network
        The network that is trained.
    recipe : Recipe
        How it is trained.
    sample : Sample
        Sample of the first step.
    state : TrainingState
        The model's ``initial_state``.
    foreseen : dict
        Exponents of the second step, as ``initial_state`` gives them.
    """

    network: Network
    recipe: Recipe
    sample: Sample
    state: TrainingState
    foreseen: Mapping[Tensor, int]

    @overload
    @classmethod
    def of(cls, network: Network, recipe: Recipe, sample: Sample, /, *,
           parameters: Mapping[Tensor, npt.ArrayLike] | None = None) -> Self: ...
    @overload
    @classmethod
    def of(cls, network: Network, recipe: Recipe,
           adjacency: SparseArray | Sequence[SparseArray], features: FloatMatrix | Mantissas,
           labels: npt.ArrayLike, splits: npt.ArrayLike,
           loss_weights: npt.ArrayLike | None = None, /, *,
           parameters: Mapping[Tensor, npt.ArrayLike] | None = None) -> Self: ...
    @classmethod
    def of(cls, network: Network, recipe: Recipe, *data: Any,
           parameters: Mapping[Tensor, npt.ArrayLike] | None = None) -> Self:
        """The model of a sample.

        Parameters
        ----------
        network, recipe
            As above.
        *data
            A ``Sample``, or adjacency, features, labels, splits and maybe loss weights as
            ``Sample.of`` takes them.
        parameters : dict, optional
            Initial values by name, as ``initial_state`` takes them.

        Raises
        ------
        InputError
            As ``Sample.of`` and ``initial_state`` do.
        """
        sample: Sample = data[0] if len(data) == 1 else Sample.of(network, recipe, *data)
        state, foreseen = initial_state(network, recipe, sample, parameters)
        return cls(network=network, recipe=recipe, sample=sample, state=state, foreseen=foreseen)

    def with_sample(self, sample: Sample) -> Self:
        """This model with another sample, in the same state."""
        return replace(self, sample=sample)

    def rules(self) -> UpdateRules:
        """The ``UpdateRules`` of a training; each device takes its own."""
        return UpdateRules(self.network, self.recipe, self.sample, self.state, self.foreseen)

    def operands(self) -> dict[Tensor, IntArray]:
        """Mantissas of every parameter."""
        return weight_operands(self.network, self.recipe.element_width, self.state)
