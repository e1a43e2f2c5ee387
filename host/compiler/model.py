"""What the compiler asks of a model in training; ``reference.fixed_gnn.FixedGnn`` gives it."""

from typing import Protocol

from hypercast.reference.adam import AdamRates
from hypercast.reference.arithmetic import Rates
from hypercast.reference.array_types import BoolArray, IntArray, IntMatrix
from hypercast.reference.exponents import ExponentFile
from hypercast.reference.momentum_exponents import MomentumExponents
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Tensor

__all__ = ["Model"]


class Model(Protocol):
    """A model as it stands before a training step."""

    network: Network
    recipe: Recipe
    sample: Sample
    labels: IntArray | BoolArray
    loss_weights: IntArray
    tensors: dict[Tensor, IntMatrix]
    exponents: ExponentFile
    momentum_exponents: MomentumExponents

    def optimiser(self, name: Tensor) -> dict[str, IntArray]:
        """What the optimiser keeps of a parameter, by kind."""

    def rates(self, name: Tensor, epoch: int) -> Rates | AdamRates:
        """Constants with which a parameter is updated in an epoch."""
