# SPDX-License-Identifier: BSD-2-Clause
"""Optimiser state as it lies in memory: sharded over the cores, row by row of the weight bank.

Row ``r`` of a parameter in the weight bank belongs to core ``r mod N`` as its row ``r div N``. Each
row is ``lanes`` int32 masters, then as many momenta; with Adam, as many second moments precede.
Where sums of gradients are kept, a row begins with the lower 32 bits of its sums, and their higher
ones.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.packing import pack_rows
from hypercast.host.compiler.weights import Weights
from hypercast.reference.array_types import IntArray
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config

__all__ = ["STATE", "load_state", "load_sums", "matrix_of", "store_state", "store_sums",
           "weight_bank", "weight_rows"]

#: What a weight's state consists of; second moments only with Adam.
STATE = ("master", "momentum", "second_moment")
#: The order in which it lies in a row.
_IN_MEMORY = ("second_moment", "master", "momentum")


def weight_rows(matrix: IntArray, weights: Weights, config: Config) -> IntArray:
    """A weight matrix as weight bank rows: panel by panel, each padded to its height."""
    lanes = config.lanes
    padded = np.zeros((weights.height, weights.panels * lanes), dtype=np.int64)
    padded[:matrix.shape[0], :matrix.shape[1]] = matrix
    return padded.reshape(-1, weights.panels, lanes).transpose(1, 0, 2).reshape(-1, lanes)


def weight_bank(operands: Mapping[Tensor, IntArray], weights: Mapping[Tensor, Weights],
                config: Config) -> Words:
    """The weight bank with the mantissas of all parameters: (rows, chunks) ``uint32``."""
    return pack_rows(np.concatenate([
        weight_rows(np.atleast_2d(operands[name]), place, config)
        for name, place in weights.items()]), config)


def matrix_of(rows: IntArray, weights: Weights, config: Config) -> IntArray:
    """The inverse of ``weight_rows``."""
    panels = rows.reshape(weights.panels, -1, config.lanes).transpose(1, 0, 2)
    padded = panels.reshape(weights.height, -1)
    return padded[:weights.shape[0], :weights.shape[1]]


def store_state(state: Mapping[str, IntArray], weights: Weights, config: Config,
                images: Sequence[Words]) -> None:
    """Write a parameter's state into the cores' images of region ``weights.state``.

    Parameters
    ----------
    state : dict
        Unpadded matrices by kind (``STATE``): masters, momenta and, with Adam, second moments.
    images : list of numpy.ndarray
        For each core, (words, chunks) ``uint32`` of the region.
    """
    rows = np.zeros((weights.rows, weights.state_values, config.lanes), dtype=np.int64)
    kinds = [kind for kind in _IN_MEMORY if kind in state]
    for place, kind in enumerate(kinds, weights.state_values - len(kinds)):
        rows[:, place] = weight_rows(state[kind], weights, config)
    for core, image in enumerate(images):
        words = rows[core::config.cores].astype("<i4").view("<u4").reshape(-1, config.chunks)
        image[:len(words)] = words


def load_state(weights: Weights, config: Config, images: Sequence[Words]) -> tuple[IntArray, ...]:
    """The inverse of ``store_state``: a tuple of unpadded matrices, in the order of ``STATE``."""
    rows = _rows(weights, config, images)
    matrices = [matrix_of(rows[:, index], weights, config)
                for index in range(2 * weights.kept, weights.state_values)]
    return (*matrices[-2:], *matrices[:-2])


def store_sums(sums: IntArray, weights: Weights, config: Config, images: Sequence[Words]) -> None:
    """Write kept sums, an unpadded matrix, into images of a region that has a place for them."""
    rows = weight_rows(sums, weights, config)
    for core, image in enumerate(images):
        owned = rows[core::config.cores]
        size = len(owned) * weights.state_values * config.lanes
        values = image.reshape(-1)[:size].reshape(-1, weights.state_values, config.lanes)
        values[:, 0] = owned & 0xFFFFFFFF
        values[:, 1] = owned >> 32 & 0xFFFFFFFF


def load_sums(weights: Weights, config: Config, images: Sequence[Words]) -> IntArray:
    """The inverse of ``store_sums``."""
    rows = _rows(weights, config, images)
    return matrix_of((rows[:, 0] & 0xFFFFFFFF) + (rows[:, 1] << 32), weights, config)


def _rows(weights: Weights, config: Config, images: Sequence[Words]) -> IntArray:
    """(rows, values, lanes) of what the cores' images have of the rows of the weight bank."""
    rows = np.zeros((weights.rows, weights.state_values, config.lanes), dtype=np.int64)
    for core, image in enumerate(images):
        owned = rows[core::config.cores]
        values = np.ascontiguousarray(image).view("<i4").reshape(
            -1, weights.state_values, config.lanes)
        owned[:] = values[:len(owned)]
    return rows
