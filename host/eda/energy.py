# SPDX-License-Identifier: BSD-2-Clause
"""An estimate of a training step's energy: operations, and words moved by distance.

Figures are of chips in 45 and 40 nm, not of FPGAs, whose logic takes about ten times as much (Kuon
and Rose, IEEE Trans. CAD, 2007). So the estimate compares configurations with each other, and is no
forecast of what a board draws. Leakage and clocks are left out.
"""

import math
from collections.abc import Mapping

from hypercast.host.cycle_model.workload import Workload
from hypercast.rtl.config import Config

__all__ = ["mean_hops", "step_energy"]

#: pJ of a multiplication and an addition, per square of the bits and per bit: of 0.2 pJ for 8 by 8
#: bits and 0.1 pJ for 32 bits (Horowitz, ISSCC 2014, 45 nm).
_MULTIPLY, _ADD = 0.2 / 8**2, 0.1 / 32
#: pJ per bit of a memory of 8 KiB, from which it grows with the root of the size: 10 pJ for 64 bits
#: of 8 KiB, 100 pJ for 64 bits of 1 MiB (Horowitz, ISSCC 2014).
_MEMORY, _MEMORY_BITS = 10 / 64, 8 * 8192
#: pJ per bit of HBM2 (O'Connor et al., Fine-Grained DRAM, MICRO 2017).
_HBM = 3.9
#: pJ per bit and mm of wire: 310 pJ for 256 bits over 10 mm (Keckler et al., IEEE Micro, 2011).
_WIRE = 310 / 256 / 10
#: mm from one side of the chip to the other, assumed; cores share it evenly.
_CHIP = 25.0


def step_energy(work: Mapping[str, int], hops: float, config: Config, *,
                external: bool) -> dict[str, float]:
    """Joules of a training step, by what they are spent on.

    Parameters
    ----------
    work : dict
        Counter to its value, as of ``Prediction``.
    hops : float
        Links that a flit takes on the average, see ``mean_hops``.
    config : Config
        Configuration of the chip.
    external : bool
        Whether the memory channels are HBM.
    """
    lanes, element, accumulator = (
        config.lanes, config.element_width, config.accumulator_width)
    word, row = config.data_width, config.lanes * accumulator
    words, edges = work.get("array_words", 0), work.get("edges", 0)
    moved = sum(work.get(f"{channel}_{what}", 0) for channel in ("features", "gradients")
                for what in ("read", "written"))
    multiply = _MULTIPLY * element**2
    add = _ADD * accumulator
    channel = _HBM if external else _memory(config.channel_words * config.word_width)
    sums, neighbour_sums = (
        2 * row * _memory(rows * row) for rows in (config.accumulator_rows, config.strip_rows))
    pitch = _CHIP / config.cores**0.5
    pico = {
        "products": words * lanes**2 * (multiply + add),
        "edges": edges * (lanes * (multiply + add) + neighbour_sums),
        "buffers": words * (word * _memory(config.operand_words * word) + sums),
        "memory channels": moved * config.word_width * channel,
        "network": work.get("sent", 0) * hops * word * _WIRE * pitch,
    }
    return {name: value * 1e-12 for name, value in pico.items()}


def mean_hops(workload: Workload) -> float:
    """Links that a flit of a step's aggregations takes on the average."""
    config = workload.config
    loads = [load for layer in range(1, len(workload.network.layers) + 1)
             for load in workload.loads(layer, False)]
    messages = sum(load.messages for load in loads)
    flits = sum(load.links for load in loads) * config.cores * config.dimensions
    return flits / messages if messages else 0.0


def _memory(bits: float) -> float:
    """pJ per bit of a memory on the chip."""
    return _MEMORY * max(1.0, math.sqrt(bits / _MEMORY_BITS))
