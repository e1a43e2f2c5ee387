"""The ``StepSums`` of all ranks together: one sum and one maximum of arrays."""

import numpy as np

from hypercast.host.cluster.group import Group
from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.step_sums import StepSums
from hypercast.reference.training_state import TrainingState

__all__ = ["Totals"]

#: Below every exponent and peak.
_NOTHING = -(1 << 20)
_METRICS = ("loss", "correct", "wrong", "vertices")


class Totals:
    """Adds up what ranks found in a step.

    Parameters
    ----------
    group : Group
        The ranks.
    state : TrainingState
        Of the training, for names and shapes.
    unit : float
        Of the losses.
    """

    def __init__(self, group: Group, state: TrainingState, unit: float) -> None:
        self._group = group
        self._shapes = {name: arrays["master"].shape for name, arrays in state.parameters.items()}
        self._entries = list(state.exponents)
        self._unit = unit

    def of(self, sums: StepSums | None) -> StepSums:
        """The sum of what all ranks give; None is nothing, and one rank gives more than that.

        Raises
        ------
        ValueError
            If ranks have chosen different exponents.
        """
        summed = self._group.sum(self._summed(sums))
        exponents, negated, peaks = self._group.maximum(self._largest(sums))
        for name, most, least in zip(self._entries, exponents, -negated, strict=True):
            if most != least:
                raise ValueError(f"{name} has exponent {least} on one board and {most} on another; "
                                 f"make all samples of a step with the same exponents")
        values = iter(np.split(summed, np.cumsum([
            *(int(np.prod(shape)) for shape in self._shapes.values()), *(4 for _ in _METRICS)])))
        return StepSums(
            gradients={name: next(values).reshape(shape)
                       for name, shape in self._shapes.items()},
            metrics=Metrics(next(values), next(values), next(values), next(values), self._unit),
            saturations=int(next(values)[0]),
            entries={name: (int(exponent), int(peak) if peak > _NOTHING else None)
                     for name, exponent, peak in zip(
                         self._entries, exponents, peaks, strict=True)})

    def _summed(self, sums: StepSums | None) -> IntArray:
        """Everything that is added up."""
        if sums is None:
            count = sum(int(np.prod(shape)) for shape in self._shapes.values())
            return np.zeros(count + 4 * len(_METRICS) + 1, dtype=np.int64)
        found: IntArray = np.concatenate([
            *(np.ravel(sums.gradients[name]) for name in self._shapes),
            *(getattr(sums.metrics, name) for name in _METRICS),
            [sums.saturations]]).astype(np.int64)
        return found

    def _largest(self, sums: StepSums | None) -> IntArray:
        """Exponents, what is less the larger they are, and peaks."""
        if sums is None:
            return np.full((3, len(self._entries)), _NOTHING, dtype=np.int64)
        pairs = [sums.entries[name] for name in self._entries]
        return np.array([
            [exponent for exponent, _ in pairs], [-exponent for exponent, _ in pairs],
            [_NOTHING if peak is None else peak for _, peak in pairs]], dtype=np.int64)
