# SPDX-License-Identifier: BSD-2-Clause
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
        Parameter (W1, b1, ...) to the optimiser's state of it: int32 arrays of the parameter's
        shape by kind ("master", "momentum").
    exponents : dict
        Entry of the exponent file to exponent and peak, ``None`` where there is none.
    momentum_exponents : dict
        Parameter to the exponent of its momenta.
    older : dict
        With stale rows, tensor to some of its rows in the last step, see ``StaleParts``.
    versions : dict
        With older weights, parameter to its older operands, oldest first, see ``OlderWeightsGnn``.
    """

    step: int
    parameters: dict[Tensor, dict[str, IntArray]]
    exponents: dict[Tensor, tuple[int, int | None]]
    momentum_exponents: dict[Tensor, int]
    older: Mapping[Tensor, Older] = field(default_factory=dict)
    versions: Mapping[Tensor, tuple[Older, ...]] = field(default_factory=dict)
