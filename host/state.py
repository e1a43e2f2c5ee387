"""Optimiser state as it lies in memory: sharded over the cores, tile by tile.

Tile ``t`` of an UPDATE (``lanes`` rows of one panel of a weight matrix) belongs to core ``t mod N``
as its tile ``t div N``. Each row is ``lanes`` int32 masters, then as many momenta.
"""

import numpy as np

__all__ = ["load_state", "matrix_of", "store_state", "weight_rows"]


def weight_rows(matrix, weights, config):
    """A weight matrix as weight bank rows: panel by panel, padded to whole tiles."""
    lanes = config.lanes
    padded = np.zeros((weights.tiles_in * lanes, weights.panels * lanes), dtype=np.int64)
    padded[:matrix.shape[0], :matrix.shape[1]] = matrix
    return padded.reshape(-1, weights.panels, lanes).transpose(1, 0, 2).reshape(-1, lanes)


def matrix_of(rows, weights, config):
    """The inverse of ``weight_rows``."""
    padded = rows.reshape(weights.panels, -1, config.lanes).transpose(1, 0, 2)
    padded = padded.reshape(weights.tiles_in * config.lanes, -1)
    return padded[:weights.shape[0], :weights.shape[1]]


def _tiles(weights, config):
    """(bank row of the tile, owner, state word of the tile) of every tile."""
    per_row = 2 * config.state_words
    for panel, first, tiles, address in weights.chunks:
        for tile in range(tiles):
            bank_row = (panel * weights.tiles_in + first + tile) * config.lanes
            local = tile // config.cores
            yield bank_row, tile % config.cores, address + local * config.lanes * per_row


def store_state(master, momentum, weights, config, images):
    """Write masters and momenta into the cores' images of region ``weights.state``.

    Parameters
    ----------
    master, momentum : numpy.ndarray
        Unpadded matrices.
    images : list of numpy.ndarray
        For each core, (words, chunks) ``uint32`` of the region.
    """
    words = 2 * config.state_words * config.lanes
    rows = [weight_rows(value, weights, config).astype("<i4") for value in (master, momentum)]
    for bank_row, owner, address in _tiles(weights, config):
        values = np.stack([value[bank_row:bank_row + config.lanes] for value in rows], axis=1)
        start = address - weights.state.address
        images[owner][start:start + words] = values.view("<u4").reshape(words, config.chunks)


def load_state(weights, config, images):
    """The inverse of ``store_state``: masters and momenta, unpadded."""
    words = 2 * config.state_words * config.lanes
    rows = np.zeros((2, weights.panels * weights.tiles_in * config.lanes, config.lanes), np.int64)
    for bank_row, owner, address in _tiles(weights, config):
        start = address - weights.state.address
        values = np.ascontiguousarray(images[owner][start:start + words]).view("<i4")
        values = values.reshape(config.lanes, 2, config.lanes)
        rows[:, bank_row:bank_row + config.lanes] = values.transpose(1, 0, 2)
    return tuple(matrix_of(value, weights, config) for value in rows)
