# SPDX-License-Identifier: BSD-2-Clause
"""Numbers that are given layer by layer: none may be left over."""

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.sampling import SAMPLING_DEFAULTS, Sampling
from hypercast.reference.network import LINEAR, Network
from hypercast.reference.recipe import Recipe

__all__ = ["check_layer_numbers"]


def check_layer_numbers(network: Network, recipe: Recipe, sampling: Sampling) -> None:
    """Refuse more rates or fan-outs than a network has layers; defaults may have more.

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
