"""Everything a later training step depends on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hypercast.reference.array_types import IntArray
from hypercast.reference.rows import Older
from hypercast.reference.tensor import Tensor

__all__ = ["TrainingState"]


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingState:
    """A training between two steps, the same on every device that trains it.

    Parameters
    ----------
    step : int
        Training steps done.
    parameters : dict
        Parameter (W1, b1, ...) to what the optimiser keeps of it: int32 arrays of the
        parameter's shape by kind ("master", "momentum").
    exponents : dict
        Entry of the exponent file to exponent and peak, ``None`` where there is none.
    momentum_exponents : dict
        Parameter to the exponent of its momenta.
    older : dict
        What the next step takes of older ones: with stale halos, tensor to some of its rows, see
        ``StaleParts``; with two weight versions, parameter to its operand, see ``TwoVersionsGnn``.
    """

    step: int
    parameters: dict[Tensor, dict[str, IntArray]]
    exponents: dict[Tensor, tuple[int, int | None]]
    momentum_exponents: dict[Tensor, int]
    older: Mapping[Tensor, Older] = field(default_factory=dict)
