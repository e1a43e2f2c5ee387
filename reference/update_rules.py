# SPDX-License-Identifier: BSD-2-Clause
"""The rules of every device's steps: gains, rates, momenta's units, exponents, keys."""

from collections.abc import Mapping

from hypercast.reference.adam import AdamRates
from hypercast.reference.arithmetic import Rates
from hypercast.reference.exponents import chosen_exponent
from hypercast.reference.momentum_exponents import MomentumExponents
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import Kind, Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.rtl.isa import KEY_MASK, STEP_KEY_INCREMENT

__all__ = ["UpdateRules", "gains"]


def gains(network: Network, sample: Sample, micro_batches: int = 1) -> dict[Tensor, float]:
    """Gradient of the mean loss divided by the accumulated gradient, of each parameter.

    The chip does not divide by the numbers of training vertices and of labels, and takes weight
    gradients from inputs that are dropped but not scaled, unless a layer aggregates first.

    Parameters
    ----------
    network : Network
        The network that is trained.
    sample : Sample
        The first one: later ones count as if they had as many training vertices.
    micro_batches : int
        Samples of a step.
    """
    count = micro_batches * sample.training_vertices / sample.loss_scale
    return {one.parameter: (network.output_dropout(one.left.layer).scale
                            if one.left.kind in (Kind.FEATURES, Kind.HIDDEN) else 1.0) / count
            for one in reversed(step_graph(network).gradients.values())}


class UpdateRules:
    """The rules of one device's training.

    Exponents of momenta follow the gradients of the device, so each has rules of its own.

    Parameters
    ----------
    network : Network
        The network that is trained.
    recipe : Recipe
        How it is trained.
    sample : Sample
        Sample of the first step.
    initial : TrainingState
        The state before the first step.
    foreseen : dict
        Entry of the exponent file to the exponent that it is to have in the second step at least.

    Attributes
    ----------
    gains : dict
        See ``gains``.
    momentum_exponents : MomentumExponents
        Exponents of each parameter's momenta.
    raised : dict
        Entry to exponent, of the entries that must be written before the step that begins.
    """

    def __init__(self, network: Network, recipe: Recipe, sample: Sample, initial: TrainingState,
                 foreseen: Mapping[Tensor, int]) -> None:
        self._network = network
        self._recipe = recipe
        self._graph = step_graph(network)
        self._foreseen = foreseen
        self.gains = gains(network, sample, recipe.micro_batches)
        self.momentum_exponents = MomentumExponents(
            initial.momentum_exponents, self._gradients({
                name: max(exponent, foreseen.get(name, exponent))
                for name, (exponent, _) in initial.exponents.items()}))
        self.raised: dict[Tensor, int] = {}

    def rates(self, name: Tensor, step: int) -> Rates | AdamRates:
        """Constants with which parameter ``name`` is updated in ``step`` (from 0), the next."""
        recipe = self._recipe
        rate = recipe.learning_rate(name, step) * recipe.rate_of_factor(
            self._network.weight_factor(name))
        return recipe.rates(rate, recipe.weight_decay(name),
                            self.gains[name], self.momentum_exponents[name], step + 1,
                            raised=name in self.momentum_exponents.raised)

    def begin_step(self, step: int, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Raise exponents of momenta whose gradients have grown, and find entries to be ``raised``.

        The exponents that the second step chooses by itself follow the peaks of the first. But
        Adam's first update moves every parameter by the whole learning rate, however small its
        gradient, so that features and logits may grow a hundredfold at once.

        Parameters
        ----------
        step : int
            The step, from 0.
        entries : dict
            Every entry of the exponent file, as the step finds it: exponent and peak.
        """
        self.raised = self.raises(step, entries)
        exponents = {name: exponent for name, (exponent, _) in entries.items()}
        self.momentum_exponents.follow(self._gradients(exponents | self.raised))

    def raises(self, step: int,
               entries: Mapping[Tensor, tuple[int, int | None]]) -> dict[Tensor, int]:
        """Exponents of the entries, among some, that must be raised before a step."""
        return {} if step != 1 else {
            name: exponent for name, exponent in self._foreseen.items()
            if name in entries and exponent > chosen_exponent(
                *entries[name], self._recipe.headroom_of(name), self._recipe.element_width)}

    def step_key(self, step: int) -> int:
        """32 bits that are added to dropout's keys in a step (from 0)."""
        return (self._recipe.seed + step * STEP_KEY_INCREMENT) & KEY_MASK

    def _gradients(self, exponents: Mapping[Tensor, int]) -> dict[Tensor, int]:
        """Exponent of each parameter's accumulated gradient."""
        return {name: sum(exponents[self._network.exponent_entry(factor)]
                          for factor in gradient.factors)
                for name, gradient in self._graph.gradients.items()}
