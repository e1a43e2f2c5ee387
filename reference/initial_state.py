# SPDX-License-Identifier: BSD-2-Clause
"""The state that a training begins with: masters, momenta of zero, and exponents of two steps."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hypercast.errors import require
from hypercast.reference.array_types import IntArray
from hypercast.reference.exponents import AlignmentError, ExponentError
from hypercast.reference.fixed_passes import FixedPasses
from hypercast.reference.initial_parameters import initial_parameters
from hypercast.reference.masters import master_weights
from hypercast.reference.momentum_exponents import first_momentum_exponent
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import BACKWARD, FORWARD, Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.reference.update_rules import UpdateRules, gains
from hypercast.reference.updates import update_rows
from hypercast.rtl.isa import FACTOR_WIDTH, KEY_MASK, MASTER_EXPONENT

__all__ = ["initial_state"]


def initial_state(network: Network, recipe: Recipe, sample: Sample,
                  parameters: Mapping[Tensor, npt.ArrayLike] | None = None,
                  ) -> tuple[TrainingState, dict[Tensor, int]]:
    """The ``TrainingState`` before the first step, and exponents of the second.

    Its exponents are found by a trial of the first step. A parameter's leaves enough bits for its
    values before and after the step, momenta's for the gradients of two steps. The others are found
    by a trial of the second step, on the same sample, if the optimiser is Adam: entries of features
    and their gradients, all that ``UpdateRules`` may raise. There are none if that step is out of
    range: training will tell. The state's arrays cannot be written to.

    Parameters
    ----------
    network : Network
        The network that is trained.
    recipe : Recipe
        How it is trained.
    sample : Sample
        Sample of the first step.
    parameters : dict, optional
        Initial values by name, instead of ``initial_parameters``.

    Raises
    ------
    InputError
        If network, sample and initial values do not fit each other, a value is out of range, a
        constant of any step is too large for its field, or an accumulator might overflow.
    """
    passes = FixedPasses(network, recipe, sample)
    masters = _initial_masters(network, recipe.seed, parameters)
    passes.round_weights(masters)
    passes.calibrate_during(lambda: _trial(passes))
    moments = ("momentum", "second_moment") if recipe.optimiser == "adam" else ("momentum",)
    trial = TrainingState(
        step=0, exponents=passes.exponents.entries(),
        parameters={name: {"master": master, **{kind: np.zeros_like(master) for kind in moments}}
                    for name, master in masters.items()},
        momentum_exponents=_first_momentum_exponents(passes))
    # The trial is on one sample, so its update counts as a step on one sample.
    rules = UpdateRules(network, replace(recipe, micro_batches=1), sample, trial, {})
    after = _masters_after(passes, trial, rules)
    passes.round_weights(masters, after)
    momentum_exponents = trial.momentum_exponents
    foreseen: dict[Tensor, int] = {}
    if second := _second_trial(network, recipe, sample, after, rules.step_key(1)):
        grown = _first_momentum_exponents(second)
        momentum_exponents = {name: max(exponent, grown[name])
                              for name, exponent in momentum_exponents.items()}
        foreseen = {name: exponent for name, exponent in second.exponents.items()
                    if name.kind in FORWARD | BACKWARD}
    state = replace(trial, exponents=passes.exponents.entries(),
                    momentum_exponents=momentum_exponents)
    _check_rates(recipe, UpdateRules(network, recipe, sample, state, foreseen), masters)
    for arrays in trial.parameters.values():
        for values in arrays.values():
            values.setflags(write=False)
    return state, foreseen


def _initial_masters(network: Network, seed: int,
                     parameters: Mapping[Tensor, npt.ArrayLike] | None) -> dict[Tensor, IntArray]:
    """Master weights by name, as the network has them."""
    initial = initial_parameters(network, seed)
    parameters = parameters or initial
    require(parameters.keys() == initial.keys(),
            f"initial values are of {', '.join(parameters)}, but the network has "
            f"{', '.join(initial)}; give one array for each")
    masters = {name: master_weights(parameters[name], name) for name in initial}
    for name, values in masters.items():
        require(values.shape == initial[name].shape, f"{name} has shape {values.shape}, but the "
                f"network's is {initial[name].shape}; give that")
    return masters


def _trial(passes: FixedPasses) -> None:
    """An evaluation, and a step up to its gradients."""
    passes.forward()
    passes.backward(passes.forward(passes.recipe.seed & KEY_MASK))


def _second_trial(network: Network, recipe: Recipe, sample: Sample,
                  masters: Mapping[Tensor, IntArray], step_key: int) -> FixedPasses | None:
    """Adam's second step up to its gradients, from masters after the first; None if it would stop.

    Steps of SGD are as small as their gradients: the second is as like the first as later ones are.
    """
    if recipe.optimiser != "adam":
        return None
    passes = FixedPasses(network, recipe, sample)
    try:
        passes.round_weights(masters)
        passes.calibrate_during(lambda: passes.backward(passes.forward(step_key)))
    except (ExponentError, AlignmentError):
        return None
    return passes


def _first_momentum_exponents(passes: FixedPasses) -> dict[Tensor, int]:
    """Exponents of momenta for the gradients of the trial."""
    recipe = passes.recipe
    gain = gains(passes.network, passes.sample, recipe.micro_batches)
    more = (recipe.micro_batches - 1).bit_length()  # bits that a sum over samples may have
    found = {}
    for name, gradient in passes.gradients.items():
        # Where gradients are all zero, decay's constant must still fit its bits.
        decay = recipe.weight_decay(name) / gain[name]
        found[name] = first_momentum_exponent(
            gradient, kept=recipe.kept_momentum, more=more, coarser=recipe.gradient_coarseness,
            least=MASTER_EXPONENT + math.frexp(decay)[1] - FACTOR_WIDTH)
    return found


def _masters_after(passes: FixedPasses, trial: TrainingState,
                   rules: UpdateRules) -> dict[Tensor, IntArray]:
    """Master weights after the trial."""
    found = {}
    for name, gradient in passes.gradients.items():
        shift = passes.exponents.gradient_shift(
            name, trial.momentum_exponents[name], gradient.exponent)
        found[name] = update_rows(trial.parameters[name], gradient.accumulators,
                                  rules.rates(name, 0), shift, 0,
                                  passes.recipe.element_width).master
    return found


def _check_rates(recipe: Recipe, rules: UpdateRules, names: Iterable[Tensor]) -> None:
    """Refuse constants of later steps now rather than then."""
    for step, _ in recipe.schedule:
        for name in names:
            rules.rates(name, step)
