# SPDX-License-Identifier: BSD-2-Clause
"""Plans which rows of the weight gradients are reduced together, and in how many digits.

A *reduction group* is reduced into one buffer of accumulators, one parameter's rows after the
other's; then its parameters are updated, while the next group is reduced. So a group is as large as
fits, but the last one is kept small: its update is what a training step ends with. Where updating
the last gradient takes long next to reducing it, it has more and smaller groups of its own, so that
what was reduced before is updated meanwhile.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hypercast.host.compiler.packing import deal
from hypercast.reference.array_types import IntArray
from hypercast.reference.bounds import gradient_bounds
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.config import Config

__all__ = ["GradientDigits", "Portion", "digits_for", "gradient_digits", "plan_reductions"]

#: Share of the last weight gradient that is left to the last group; and to the last two groups, if
#: updating takes more than ``_LONG`` of the cycles of reducing.
_LAST, _LAST_TWO, _LONG = 0.15, 0.45, 0.25


@dataclass(frozen=True, kw_only=True)
class Portion:
    """Rows of a parameter that one UPDATE works on.

    Parameters
    ----------
    rows : range
        Some of the parameter's rows in the weight bank, from a multiple of ``cores`` on.
    reduction_group : int
        The group they are reduced in.
    first_row : int
        Reduction row of the first one, a multiple of ``cores``.
    """

    rows: range
    reduction_group: int
    first_row: int


def plan_reductions(network: Network, config: Config, words: int, layers: range = range(0), *,
                    apart: bool = False) -> dict[Tensor, list[Portion]]:
    """The portions of every parameter.

    Parameters
    ----------
    network : Network
        The network, whose parameters are reduced in the order of the backward pass.
    config : Config
        Configuration of the chip.
    words : int
        Words of the input features that a core reads for a panel of the first layer's outputs.
    layers : range
        Layers (from 1) whose parameters there are; all of them if empty.
    apart : bool
        Whether no group has parameters of two layers.

    Returns
    -------
    dict
        Parameter (W1, b1, ...) to a list of ``Portion``.
    """
    lanes, cores = config.lanes, config.cores
    capacity, unit = config.strip_rows * cores, max(lanes, cores)
    plan: dict[Tensor, list[Portion]] = {}
    group, used = 0, 0
    for number in reversed(layers or range(1, len(network.layers) + 1)):
        if apart and used:
            group, used = group + 1, 0
        layer = network.layers[number - 1]
        panels = -(-layer.features_out // lanes)
        shapes = [(Tensor(Kind.BIAS, number), panels, 1)]
        for weight in reversed(network.weights(number)):
            height = -(-weight.shape[0] // lanes) * lanes
            shapes.append((weight.name, panels * height, height))
        for name, count, height in shapes:
            plan[name] = []
            done, ends = 0, [count]
            if name == Tensor(Kind.WEIGHTS, 1):
                long = count * lanes / cores > _LONG * words * panels
                ends = _ends(count, height, unit, (_LAST_TWO, _LAST) if long else (_LAST,))
                if long and used:
                    group, used = group + 1, 0
            while done < count:
                left = next(end for end in ends if end > done) - done
                free = (capacity - used) // unit * unit
                if used and free < min(left, height):  # rather than a small part
                    group, used = group + 1, 0
                    continue
                size = min(left, free)
                plan[name].append(Portion(
                    rows=range(done, done + size), reduction_group=group, first_row=used))
                done += size
                used += -(-size // cores) * cores
                if done in ends[:-1]:
                    group, used = group + 1, 0
    return plan


def _ends(count: int, height: int, unit: int, left: Iterable[float]) -> list[int]:
    """Rows, all of them at last, after which a group ends so that shares of all rows are left.

    They are multiples of ``unit``, and ends of panels where the share has whole ones.
    """
    panels = math.lcm(height, unit)
    found = []
    for share in (int(count * part) for part in left):
        step = panels if share >= panels else unit
        found.append(min(count, -(-(count - share) // step) * step))
    return sorted({*found, count})


class GradientDigits:
    """Digits that any core's sum of each parameter's gradient takes, of a model in any orders.

    Calling it with a network, the model's with some orders, gives the digits by parameter name.

    Parameters
    ----------
    model : InitialModel
        Gives input features.
    config : Config
        Configuration of the chip.
    """

    def __init__(self, model: InitialModel, config: Config) -> None:
        self._model, self._config = model, config

    def __call__(self, network: Network) -> dict[Tensor, int]:
        rows = -(-self._model.sample.features.values.shape[0] // self._config.cores)
        bounds = gradient_bounds(network, self._largest, self._config.element_width,
                                 [rows] * (len(network.layers) + 1))
        return {name: digits_for(bound, self._config) for name, bound in bounds.items()}

    @cached_property
    def _largest(self) -> IntArray:
        """A feature of one vertex that is as large as any core's sum of magnitudes of a feature."""
        parts = (deal(self._model.sample.features.values, core, self._config)
                 for core in range(self._config.cores))
        return np.array([[max(int(abs(part).sum(axis=0).max()) for part in parts)]])


def gradient_digits(model: InitialModel, config: Config,
                    network: Network | None = None) -> dict[Tensor, int]:
    """Digits that any core's sum of each parameter's gradient takes, by parameter name.

    Parameters
    ----------
    model : InitialModel
        Gives input features and network.
    config : Config
        Configuration of the chip.
    network : Network, optional
        The model's with other orders.
    """
    return GradientDigits(model, config)(network or model.network)


def digits_for(bound: int, config: Config) -> int:
    """Digits that hold any sum of magnitude up to ``bound``, all of an accumulator at most.

    Every digit is signed, so ``n`` of them end before ``2**(n * E - 1)``: with 16 bits,
    ``0x7FFF7FFF`` is the largest number of two digits.
    """
    width = config.element_width
    largest = (1 << width - 1) - 1
    ends = [sum(largest << width * digit for digit in range(count))
            for count in range(1, config.digits)]
    return 1 + bisect_left(ends, bound)
