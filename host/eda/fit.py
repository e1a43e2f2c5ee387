# SPDX-License-Identifier: BSD-2-Clause
"""Whether a configuration fits an FPGA, by bounds: before anything is converted or written.

What is counted is the least that any tool needs. Memories: the manifest's, whole blocks each,
spread over the kinds of RAM as well as possible. Multipliers: the arrays'. LUTs: the smallest
core's. So what fits is never refused; what is not refused may still not fit, as there is more in a
chip than what is counted.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from hypercast.boards.fpga import Fpga
from hypercast.rtl.config import Config, ConfigurationError
from hypercast.rtl.export.manifest import memories

__all__ = ["ResourceUse", "check_fit", "uses"]

#: LUTs of the smallest core (one core, two lanes of 8 bits, one plane, SGD, the least buffers), by
#: family, as Yosys synthesises it, less a quarter that other tools may save.
_LEAST_LUTS = {"Cyclone V": 13_000, "ECP5": 13_000, "Gowin 5": 13_000, "7 series": 8_000,
               "UltraScale+": 8_000}
#: Bits of a memory that may be in LUTs with any tools.
_SMALL = 1024
#: What may be made smaller where something does not fit.
_SIZES = ("channel_words", "weight_rows", "operand_words", "aggregation_rows",
          "accumulator_rows", "bypass_rows", "lanes", "planes", "dimensions")


@dataclass(frozen=True, kw_only=True)
class ResourceUse:
    """The least that a chip needs of one resource of an FPGA.

    Parameters
    ----------
    resource : str
        What is needed.
    needed, available : int
        How many of it at least, and how many there are.
    """

    resource: str
    needed: int
    available: int

    def __str__(self) -> str:
        return f"{self.resource}: at least {self.needed:,} needed, {self.available:,} there"


def check_fit(title: str, name: str, fpga: Fpga, config: Config, *, folded: bool = False,
              external: bool = False) -> None:
    """Refuse a configuration that cannot fit an FPGA.

    Parameters
    ----------
    title, name : str
        What the board and its FPGA are called.
    fpga : Fpga
        What the FPGA has.
    config : Config
        Configuration of the chip.
    folded : bool
        Whether a chip of more than four cores is folded.
    external : bool
        Whether the memory channels are outside of the chip.

    Raises
    ------
    ConfigurationError
        If it cannot; says what there is too little of, and what would fit.
    """
    def missing(tried: Config) -> list[ResourceUse]:
        return [use for use in uses(fpga, tried, folded=folded, external=external)
                if use.needed > use.available]

    short = missing(config)
    if not short:
        return
    changes = [f"-P {field}={getattr(smaller, field)}" for field in _SIZES
               if (smaller := next((tried for tried in _halve(config, field)
                                    if not missing(tried)), None))]
    remedy = f"{' or '.join(changes)} would, by these counts; or" if changes else \
        "more than one thing is too large;"
    raise ConfigurationError(
        f"this configuration does not fit the {name} of the {title}: "
        f"{'; '.join(str(use) for use in short)}; {remedy} take the preset that is the board's own "
        f"(leave out --preset), or a larger board")


def _halve(config: Config, field: str) -> Iterator[Config]:
    """Configurations in which one size gets smaller and smaller: by half, or a dimension less."""
    while value := getattr(config, field):
        try:
            config = config.replace(**{field: value - 1 if field == "dimensions" else value // 2})
        except ConfigurationError:
            return
        yield config


def uses(fpga: Fpga, config: Config, *, folded: bool = False,
         external: bool = False) -> list[ResourceUse]:
    """The least that a chip needs of each resource; parameters as of ``check_fit``."""
    cores = 1 if folded and config.dimensions > 2 else config.cores
    multipliers = cores * config.lanes**2
    # A multiplier without a DSP block is one of LUTs, one or more for each partial product.
    luts = cores * _LEAST_LUTS[fpga.family] + (
        max(0, multipliers - fpga.multipliers) * config.element_width**2)
    return [
        *_rams(fpga, [_fold_memory(item, config.cores // cores)
                      for item in memories(config, external=external)], luts),
        ResourceUse(resource=f"LUT ({multipliers:,} multipliers of the arrays, "
                             f"{fpga.multipliers:,} in DSP blocks)",
                    needed=luts, available=fpga.luts),
    ]


def _fold_memory(memory: dict[str, Any], times: int) -> dict[str, Any]:
    """A memory of the chip, in the form that it has if so many cores are one."""
    if memory["instances"] % times:
        return memory
    return {**memory, "instances": memory["instances"] // times, "words": memory["words"] * times}


def _rams(fpga: Fpga, memory: list[dict[str, Any]], luts: int) -> Iterator[ResourceUse]:
    """Blocks of the first kind of RAM that are needed if the others take all they can.

    Each memory may be split over the kinds at will, which no tool does: so it is a bound. Small
    memories are left out, for they are in LUTs.
    """
    memory = [item for item in memory if item["words"] * item["width"] > _SMALL]
    ram, available = fpga.rams[0]
    others = "".join(f", all {count:,} {other.name} in use" for other, count in fpga.rams[1:])
    kinds = len(fpga.rams) + 1
    free = fpga.distributed_bits * max(0.0, 1 - luts / fpga.luts)
    cost = np.array([[*(item["instances"] * ram.blocks(item["words"], item["width"])
                        for ram, _ in fpga.rams),
                      item["instances"] * item["words"] * item["width"]]
                     for item in memory])
    limits = np.array([count for _, count in fpga.rams] + [free])
    # Shares of each memory in each kind, memory by memory; they add up to one.
    amounts = np.zeros((kinds, cost.size))
    for kind in range(kinds):
        amounts[kind, kind::kinds] = cost[:, kind]
    result = linprog(
        amounts[0], A_ub=amounts[1:], b_ub=limits[1:],
        A_eq=np.kron(np.eye(len(memory)), np.ones(kinds)), b_eq=np.ones(len(memory)))
    yield ResourceUse(resource=f"{ram.name}{others}", needed=math.ceil(result.fun - 1e-6),
                      available=available)
