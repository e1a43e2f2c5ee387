# SPDX-License-Identifier: BSD-2-Clause
"""Evaluates parameters that were trained elsewhere."""

from hypercast.reference.fixed_passes import FixedPasses
from hypercast.reference.metrics import Metrics
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState

__all__ = ["Judge"]


class Judge(FixedPasses):
    """Forward passes on a whole graph, of any parameters: trained on samples, for instance.

    Parameters
    ----------
    network, recipe, sample
        As of ``FixedPasses``; the sample is the graph.
    """

    def __init__(self, network: Network, recipe: Recipe, sample: Sample) -> None:
        super().__init__(network, recipe, sample, trained=False)
        self._given = self.exponents.entries()

    def judge(self, state: TrainingState) -> Metrics:
        """``Metrics`` of a pass without dropout, with exponents chosen from the pass itself.

        They leave no headroom above features, as no training step follows.

        Parameters
        ----------
        state : TrainingState
            Has the parameters.
        """
        self.begin_judging(state)
        return self.metrics(self.calibrate_during(self.forward))

    def begin_judging(self, state: TrainingState) -> None:
        """Round the parameters of a state, and forget the exponents of passes before."""
        self.exponents.load(self._given)
        self.round_weights({
            name: arrays["master"] for name, arrays in state.parameters.items()})
