# SPDX-License-Identifier: BSD-2-Clause
"""The default order of every layer's products, which is the same whatever chip trains."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.sparse_words import index_words, nonzero_words
from hypercast.host.compiler.vertices import blocks_of, strips_of
from hypercast.host.cycle_model.aggregations import Expected, Thinned
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.array_types import FloatMatrix, IntArray
from hypercast.reference.network import LINEAR, Network
from hypercast.rtl.config import LARGEST_PROGRAM, PRESETS, Config
from hypercast.rtl.isa import ADDRESS_WIDTH, BASE_WIDTH, TENSOR_WIDTH

__all__ = ["YARDSTICK", "default_orders", "expected_workload", "panel_words"]

#: The chip whose cycles decide: the largest boards' chip, with all memory that a chip can have.
YARDSTICK = PRESETS["vcu128"].replace(
    weight_rows=1 << BASE_WIDTH, channel_words=1 << ADDRESS_WIDTH, program_rows=LARGEST_PROGRAM,
    tensors=1 << TENSOR_WIDTH)
#: How hard schedules try: trying harder tells little more.
_TRIALS = 1
#: Chips of few lanes have more panels, and gather each of them. So if both orders are about as fast
#: on this chip, products are combined first.
_SPARED = 0.02


def default_orders(network: Network, vertices: Sequence[int], edges: Sequence[int],
                   element_width: int, *, words: IntArray | None = None, law: str = "power",
                   sampled: bool = False, pipelined: bool = False,
                   resident: bool = False) -> Network:
    """The network with the orders of the fewest cycles on one chip, ``YARDSTICK``.

    They follow from the network and a few numbers of what it is trained on, so a training has the
    same bits on any chip. A network that is too large for any chip combines first.

    Parameters
    ----------
    network : Network
        With any orders.
    vertices : sequence of int
        Vertices of the input, and of every layer's output.
    edges : sequence of int
        Entries of every layer's adjacency matrix: edges in both directions, and loops.
    element_width : int
        Bits of an element.
    words : (panels,) array of int, optional
        What ``panel_words`` gives for the input features; without, all words count as non-zero.
    law : str
        How edges are distributed over vertices, see ``Expected``.
    sampled, pipelined, resident : bool
        As in ``Workload``.
    """
    return network.with_orders(_default(
        network.with_orders(layer.orders[0] for layer in network.layers), tuple(vertices),
        tuple(edges), element_width, None if words is None else tuple(words.tolist()), law, sampled,
        pipelined, resident))


@lru_cache(maxsize=256)
def _default(network: Network, vertices: tuple[int, ...], edges: tuple[int, ...],
             element_width: int, words: tuple[int, ...] | None, law: str, sampled: bool,
             pipelined: bool, resident: bool) -> tuple[str, ...]:
    """The orders of ``default_orders``; trainings on the same numbers have the same ones."""
    config = YARDSTICK.replace(element_width=element_width)
    workload = expected_workload(
        network, vertices, edges, config, law=law, sampled=sampled, pipelined=pipelined,
        resident=resident)
    if words is not None:
        # A few strips may stand for all.
        there = workload.vertices[0]
        workload = replace(workload, words=_read_stored(
            np.array(words) * there // vertices[0], there, config))
    try:
        return choose_orders(workload, trials=_TRIALS, spared=_SPARED).orders
    except CapacityError:
        return workload.orders


def expected_workload(network: Network, vertices: Sequence[int], edges: Sequence[int],
                      config: Config, *, law: str = "power", sampled: bool = False,
                      **known: Any) -> Workload:
    """A step by expected values, combining first.

    Where a whole graph has many strips of rows on the chip, a few stand for all.

    Parameters
    ----------
    network, vertices, edges, law, sampled
        As of ``default_orders``.
    config : Config
        Configuration of the chip.
    **known
        ``words``, ``pipelined`` and ``resident`` of ``Workload``.
    """
    # A linear layer sums nothing: its entries are not to tell it from others.
    entries = [max(edges) if layer.order == LINEAR else count
               for layer, count in zip(network.layers, edges, strict=True)]
    aggregations = Expected(vertices, entries, config, law) if sampled else Thinned(
        vertices[0], entries[0], len(network.layers), config, law=law)
    return Workload(
        config=config, aggregations=aggregations, sampled=sampled, **known,
        network=network.with_orders(layer.orders[0] for layer in network.layers))


def panel_words(features: FloatMatrix) -> IntArray:
    """Words of each panel of a matrix that are not all zero, as ``YARDSTICK`` has words.

    Parameters
    ----------
    features : (V, F) array or scipy.sparse array
        The matrix, dense or sparse.

    Returns
    -------
    numpy.ndarray
        (panels,) int64.
    """
    return nonzero_words(features, YARDSTICK.lanes)


def _read_stored(words: IntArray, vertices: int, config: Config) -> IntArray | None:
    """Words of every core, block and panel that ``Features`` stores, if zeros are left out; None if
    not.

    Parameters
    ----------
    words : (panels,) array of int
        Words that are not zero, of all rows.
    vertices : int
        Vertices.
    config : Config
        Configuration of the chip.
    """
    blocks = blocks_of(strips_of(vertices, config), config.accumulator_rows, alike=True)
    rows = sum(block.rows for block in blocks)
    counts = np.array([np.maximum(-(-words * block.rows // (rows * config.cores)), 1)
                       for block in blocks])
    sparse = counts.sum() + len(blocks) * index_words(len(words), config) < rows * len(words)
    return np.tile(counts, (config.cores, 1, 1)) if sparse else None
