# SPDX-License-Identifier: BSD-2-Clause
"""HP-GNN's performance model: its formulas, from its public design-space script.

Lin, Zhang and Prasanna, HP-GNN: Generating High Throughput GNN Training Implementation on CPU-FPGA
Heterogeneous Platform, FPGA 2022; https://github.com/jasonlin316/HP-GNN, ``src/DSE_engine.py``. The
script has the forward pass, with one number of features for all layers; here each layer has its
own. Its aggregation kernel takes 16 elements a cycle in each of ``n`` units.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from hypercast.benches.study.batch import Batch
from hypercast.rtl.config import Config

__all__ = ["HP_GNN", "Accelerator", "like_ours", "step_seconds"]

#: Elements that an aggregation unit takes in a cycle.
_ELEMENTS = 16
#: Share of the bandwidth that loads reach: in the first layer, whose rows are read at random from
#: the whole graph's features, and in later layers.
RANDOM_EFFICIENCY, EFFICIENCY_AFTER = 0.3, 0.9


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """The resources that the formulas know.

    Parameters
    ----------
    macs : int
        Multiply-accumulates per cycle, ``m``.
    units : int
        Aggregation units, ``n``.
    bandwidth : float
        Bytes per second of the memory.
    clock : float
        Cycles per second.
    element_bytes : int
        Bytes of an element.
    """

    macs: int
    units: int
    bandwidth: float
    clock: float
    element_bytes: int


#: As the script configures it for each sampling: Alveo U250, single precision.
HP_GNN = {
    name: Accelerator(macs=1024, units=units, bandwidth=77e9, clock=300e6, element_bytes=4)
    for name, units in (("neighbour", 4), ("subgraph", 16))
}


def like_ours(config: Config, clock: float) -> Accelerator:
    """An accelerator with the MACs, aggregators, channels and elements of ``config``.

    Aggregation units: as many as all ejection ports of all cores can supply.
    """
    return Accelerator(
        macs=config.cores * config.lanes**2,
        units=config.cores * config.eject * config.lanes // _ELEMENTS,
        bandwidth=2 * config.cores * config.word_width / 8 * clock, clock=clock,
        element_bytes=config.element_width // 8)


def step_seconds(batch: Batch, widths: Sequence[int], accelerator: Accelerator) -> float:
    """Seconds of a training step.

    In each layer loading, aggregation and update overlap perfectly, and layers follow each other.
    The backward pass aggregates again from the last layer to the second, and updates twice (for the
    gradients of the inputs and of the weights), in the first layer once; it loads nothing.

    Parameters
    ----------
    batch : Batch
        The layers' vertices and edges.
    widths : sequence of int
        Features of the inputs and of each layer's outputs.
    accelerator : Accelerator
        The accelerator that it runs on.
    """
    total = 0.0
    for index, (block, shape) in enumerate(
            zip(batch.blocks, itertools.pairwise(widths), strict=True)):
        width, outputs = shape
        efficiency = EFFICIENCY_AFTER if index else RANDOM_EFFICIENCY
        load = block.sources * width * accelerator.element_bytes / (
            accelerator.bandwidth * efficiency)
        aggregate = block.edges * width / (accelerator.units * _ELEMENTS * accelerator.clock)
        update = block.destinations * width * outputs / (accelerator.macs * accelerator.clock)
        total += max(load, aggregate, update)
        total += max(aggregate, 2 * update) if index else update
    return total
