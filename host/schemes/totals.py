# SPDX-License-Identifier: BSD-2-Clause
"""Results of all boards together: sums and maxima of arrays, as actions."""

from collections.abc import Mapping

import numpy as np

from hypercast.errors import InputError
from hypercast.host.schemes.actions import Actions, Maximum, Sum
from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["Totals"]

#: Below every exponent and peak.
_NOTHING = -(1 << 20)
_METRICS = ("loss", "correct", "wrong", "vertices")


class Totals:
    """Adds up what ranks found in a step.

    Parameters
    ----------
    state : TrainingState
        State of the training, for names and shapes.
    unit : float
        Unit of the losses.
    """

    def __init__(self, state: TrainingState, unit: float) -> None:
        self._shapes = {name: arrays["master"].shape for name, arrays in state.parameters.items()}
        self._names = list(state.exponents)
        self._unit = unit

    def of(self, sums: StepSums | None) -> Actions[StepSums]:
        """The sum of what all ranks give; None is nothing, and one rank gives more than that.

        Raises
        ------
        InputError
            If ranks have chosen different exponents.
        """
        sizes = [int(np.prod(shape)) for shape in self._shapes.values()]
        own = np.zeros(sum(sizes) + 4 * len(_METRICS) + 1, dtype=np.int64)
        if sums is not None:
            gradients = [np.ravel(sums.gradients[name]) for name in self._shapes]
            own = np.concatenate([*gradients, _flat(sums.metrics), [sums.saturations]])
        total = yield from Sum(own)
        *parts, metrics, [saturations] = np.split(
            total, np.cumsum([*sizes, 4 * len(_METRICS)]))
        entries = yield from self.entries(sums.entries if sums else {})
        return StepSums(
            gradients={name: values.reshape(shape) for (name, shape), values in zip(
                self._shapes.items(), parts, strict=True)},
            metrics=self._metrics(metrics), saturations=int(saturations),
            entries=entries)

    def metrics(self, metrics: Metrics) -> Actions[Metrics]:
        """The sum of all ranks' ``Metrics``."""
        return self._metrics((yield from Sum(_flat(metrics))))

    def _metrics(self, values: IntArray) -> Metrics:
        loss, correct, wrong, vertices = values.reshape(len(_METRICS), 4)
        return Metrics(loss, correct, wrong, vertices, self._unit)

    def entries(self, entries: Mapping[Tensor, tuple[int, int | None]],
                ) -> Actions[dict[Tensor, tuple[int, int | None]]]:
        """Every entry of the exponent file: of peaks, the largest of any rank.

        Parameters
        ----------
        entries : dict
            What this rank has, or some of them, or nothing.

        Returns
        -------
        dict
            Entries that any rank has.

        Raises
        ------
        InputError
            If exponents differ.
        """
        pairs = [entries.get(name, (None, None)) for name in self._names]
        exponents, negated, peaks = yield from Maximum(np.array([
            [_NOTHING if exponent is None else sign * exponent for exponent, _ in pairs]
            for sign in (1, -1)] + [[_NOTHING if peak is None else peak for _, peak in pairs]]))
        for name, most, least in zip(self._names, exponents, -negated, strict=True):
            if most != least and most > _NOTHING:
                raise InputError(f"{name} has exponent {least} on one board and {most} on another; "
                                 f"make all samples of a step with the same exponents")
        return {name: (int(exponent), int(peak) if peak > _NOTHING else None)
                for name, exponent, peak in zip(self._names, exponents, peaks, strict=True)
                if exponent > _NOTHING}


def _flat(metrics: Metrics) -> IntArray:
    """All sums of ``Metrics``, one after another."""
    found: IntArray = np.concatenate([getattr(metrics, name) for name in _METRICS])
    return found.astype(np.int64)
