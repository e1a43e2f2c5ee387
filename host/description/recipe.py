# SPDX-License-Identifier: BSD-2-Clause
"""The recipe by the names that descriptions use."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from hypercast.host.description.conversion import DescriptionError, check
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import SAMPLING_DEFAULTS, Sampling
from hypercast.reference.models import MODELS
from hypercast.reference.network import LINEAR, Network
from hypercast.reference.recipe import CROSS_ENTROPY, Recipe
from hypercast.rtl.config import Config

__all__ = ["RECIPE_HINTS", "check_layer_numbers", "make_recipe", "recipe_values"]

#: Keys that are called otherwise in ``Recipe``: one number may stand for all layers.
_PLURAL = {"learning_rate": "learning_rates", "bias_learning_rate": "bias_learning_rates",
           "weight_decay": "weight_decays"}
_SINGULAR = {name: key for key, name in _PLURAL.items()}
#: Keys of a recipe, and their types: the fields of ``Recipe``, but for ``element_width``, which is
#: the device's, and ``loss``, which labels ask for.
RECIPE_HINTS = {_SINGULAR.get(field.name, field.name): field.type for field in fields(Recipe)
                if field.name not in ("element_width", "loss")}
#: Keys that count for one value of another key only.
_CONDITIONS = {"momentum": ("optimiser", "sgd"), "betas": ("optimiser", "adam"),
               "epsilon": ("optimiser", "adam"), "gin_epsilon": ("normalisation", "sum")}


def make_recipe(values: Mapping[str, object], model: Model, config: Config,
                loss: str = CROSS_ENTROPY) -> Recipe:
    """A ``Recipe``.

    Parameters
    ----------
    values : dict
        By key. Edge weights are normalised as the model is defined with, if not given.
    model : Model
        The network's section.
    config : Config
        The chip's configuration.
    loss : str
        The loss.

    Raises
    ------
    DescriptionError
        If a key is unknown or does not count with the others, or a value is of another type or
        out of range.
    """
    given = {"normalisation": MODELS[model.name].normalisation,
             **check("recipe", values, RECIPE_HINTS)}
    try:
        recipe = Recipe(element_width=config.element_width, loss=loss,
                        **{_PLURAL.get(key, key): value for key, value in given.items()})
    except ValueError as error:
        name, _, said = str(error).partition(" ")
        key = _SINGULAR.get(name, name)
        raise DescriptionError(f"[recipe] {key} {said}", "recipe", key) from error
    for key in given:
        if not _counts(key, recipe):
            other, wanted = _CONDITIONS[key]
            raise DescriptionError(
                f"[recipe] {key} counts with {other} {wanted} only, not with "
                f"{getattr(recipe, other)}; leave it out", "recipe", key)
    return recipe


def _counts(key: str, recipe: Recipe) -> bool:
    """Whether a key makes a difference to a recipe like this."""
    other, wanted = _CONDITIONS.get(key, (None, None))
    return other is None or getattr(recipe, other) == wanted


def recipe_values(recipe: Recipe) -> dict[str, Any]:
    """Arguments from which ``make_recipe`` makes ``recipe``."""
    return {key: value for name, value in asdict(recipe).items()
            if (key := _SINGULAR.get(name, name)) in RECIPE_HINTS and value is not None
            and _counts(key, recipe)}


def check_layer_numbers(network: Network, recipe: Recipe, sampling: Sampling) -> None:
    """Refuse more rates or fan-outs than a network has layers; defaults may have more.

    Parameters
    ----------
    network : Network
        The network that is trained.
    recipe : Recipe
        Has the rates.
    sampling : Sampling
        Has the fan-outs.

    Raises
    ------
    DescriptionError
        If there are.
    """
    layers = len(network.layers)
    for key, given, default in (
            ("learning_rate", recipe.learning_rates, None),
            ("bias_learning_rate", recipe.bias_learning_rates, None),
            ("weight_decay", recipe.weight_decays, Recipe().weight_decays)):
        if given and given != default and len(given) > layers:
            raise DescriptionError(
                f"[recipe] {key} has {len(given)} numbers, but the network has {_count(layers)}; "
                f"give one for each, or one for all", "recipe", key)
    convolutions = sum(layer.order != LINEAR for layer in network.layers)
    fan_outs = sampling.fan_outs
    if fan_outs and fan_outs != SAMPLING_DEFAULTS["fan_outs"] and len(fan_outs) > convolutions:
        raise DescriptionError(
            f"[sampling] fan_outs has {len(fan_outs)} numbers, but the network has "
            f"{_count(convolutions, 'convolution')}; give one for each, or one for all",
            "sampling", "fan_outs")


def _count(number: int, noun: str = "layer") -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
