# SPDX-License-Identifier: BSD-2-Clause
"""Actions of a board in a training that several share; schemes are generators of them.

``yield from`` an action gives what came of it. A ``Worker`` carries them out on a device, and in a
group of processes; schemes know neither.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from hypercast.host.runtime.passes import Crossing, Entries, Passes
from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["Action", "Actions", "Backward", "Begin", "End", "Evaluate", "Forward", "Gather",
           "LoadState", "Maximum", "ReadEntries", "ReadLogits", "ReadState", "ReadWeights",
           "Receive", "Send", "Sum", "Through", "Update", "WriteEntries"]

Result = TypeVar("Result")


class Action(Generic[Result]):
    """Something that a board does."""

    def __iter__(self) -> Generator["Action[Any]", Any, Result]:
        found: Result = yield self
        return found


#: A generator of actions, and what it returns.
Actions: TypeAlias = Generator[Action[Any], Any, Result]


# A step.

@dataclass(frozen=True)
class Begin(Action[None]):
    """A step begins. If exponents are not raised now, ``Update`` is told how the step began."""

    raises: bool = True


@dataclass(frozen=True)
class Through(Action[StepSums]):
    """A sample goes through the whole network, forward and backward, from where the step began."""

    sample: Sample


@dataclass(frozen=True)
class Receive(Action[None]):
    """Receive a board's message for the pass that follows."""

    source: int


@dataclass(frozen=True)
class Forward(Action[Passes]):
    """A unit with some number goes forward through the layers here, see ``PartDevice.passes``."""

    unit: int
    sample: Sample
    training: bool = True
    step: int | None = None
    entries: Entries | None = None
    weights: Mapping[Tensor, Older] | None = None


@dataclass(frozen=True)
class Backward(Action[Passes]):
    """The unit goes backward; with these entries, where the pass forward left other ones."""

    unit: int
    entries: Entries | None = None


@dataclass(frozen=True)
class Send(Action[None]):
    """A board is sent what crosses of the pass that has been."""

    target: int
    crossings: Sequence[Crossing]


@dataclass(frozen=True)
class Update(Action[int]):
    """The parameters are updated, see ``PartDevice.update``; gives the step's saturations."""

    sums: StepSums
    begun: Entries | None = None


class End(Action[None]):
    """The step is over: what follows takes no virtual time."""


class Evaluate(Action[Metrics]):
    """The whole network, without dropout."""


# What the device has.

class ReadEntries(Action[dict[Tensor, tuple[int, int | None]]]):
    """The exponent file."""


@dataclass(frozen=True)
class WriteEntries(Action[None]):
    """Go on with other entries of the exponent file."""

    entries: Entries


class ReadWeights(Action[dict[Tensor, Older]]):
    """The parameters after the last update, as passes take them."""


class ReadLogits(Action[tuple[IntArray, int]]):
    """Logits of the last evaluation."""


class ReadState(Action[TrainingState]):
    """The state of this board's part."""


@dataclass(frozen=True)
class LoadState(Action[None]):
    """Go on from a state."""

    state: TrainingState


# What all boards do together.

@dataclass(frozen=True)
class Sum(Action[IntArray]):
    """Element by element, the sum of what all give."""

    values: IntArray


@dataclass(frozen=True)
class Maximum(Action[IntArray]):
    """Element by element, the largest of what all give."""

    values: IntArray


@dataclass(frozen=True)
class Gather(Action[list[Any]]):
    """All ranks' values, in order; on other ranks than the leader's, nothing."""

    value: Any
