"""What devices ask of a model; ``reference.fixed_gnn.FixedGnn`` gives both."""

from collections import Counter
from typing import Protocol

from hypercast.host.compiler.model import Model
from hypercast.reference.array_types import IntArray, IntMatrix
from hypercast.reference.exponents import ExponentFile
from hypercast.reference.metrics import Metrics
from hypercast.reference.network import Network
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["ChipModel", "ReferenceModel"]


class ChipModel(Model, Protocol):
    """What a chip's device asks: constants of its program, and shapes; the model is not run."""

    masters: dict[Tensor, IntArray]

    @property
    def loss_unit(self) -> float:
        """Nats of a unit of the metrics' losses."""

    def follow_gradients(self) -> None:
        """Raise exponents of momenta whose gradients have grown."""

    def take(self, sample: Sample) -> None:
        """Go on with another sample."""

    def kept(self) -> dict[str, dict[Tensor, IntArray]]:
        """What the optimiser keeps, by kind and parameter."""

    def operand(self, name: Tensor, state: TrainingState) -> IntArray:
        """Mantissas of a parameter in a state."""


class ReferenceModel(Protocol):
    """What the reference's device runs."""

    network: Network
    tensors: dict[Tensor, IntMatrix]
    exponents: ExponentFile
    masters: dict[Tensor, IntArray]
    saturations: Counter[Tensor]

    def train_step(self) -> Metrics:
        """Forward, backward, update."""

    def evaluate(self) -> Metrics:
        """Forward only, without dropout."""

    def take(self, sample: Sample) -> None:
        """Go on with another sample."""

    def optimiser(self, name: Tensor) -> dict[str, IntArray]:
        """What the optimiser keeps of a parameter, by kind."""

    def state(self) -> TrainingState:
        """The state now."""

    def load_state(self, state: TrainingState) -> None:
        """Go on from a state."""

    def judge(self, masters: dict[Tensor, IntArray]) -> Metrics:
        """Evaluate other parameters."""
