# SPDX-License-Identifier: BSD-2-Clause
"""Moves rows of matrices, and masks, between a chip's memories and the host."""

from collections.abc import Iterator

import numpy as np

from hypercast.host.compiler.job import Job
from hypercast.host.compiler.memory_map import Region
from hypercast.host.compiler.packing import (
    deal,
    pack_masks,
    pack_rows,
    undeal,
    unpack_masks,
    unpack_rows,
)
from hypercast.host.runtime.driver import Driver
from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.placement import core_of, row_of

__all__ = ["read_mask", "read_rows", "write_mask", "write_rows"]


def read_rows(driver: Driver, job: Job, name: Tensor, rows: IntArray) -> IntArray:
    """Some rows of a matrix.

    Parameters
    ----------
    driver : Driver
        Reaches the chip.
    job : Job
        What the chip runs.
    name : Tensor
        The matrix.
    rows : (n,) array of int
        Which rows of it.

    Returns
    -------
    numpy.ndarray
        (n, columns) mantissas.
    """
    region, config = job.regions[name], job.config
    found = np.zeros((len(rows), region.panels * config.lanes), dtype=np.int64)
    for core, chosen, first, count in _runs(rows, config):
        places = row_of(rows[chosen], config.cores) - first
        for panel in range(region.panels):
            words = driver.read_words(core, region.space, region.panel(panel, first), count)
            found[chosen, panel * config.lanes:(panel + 1) * config.lanes] = \
                unpack_rows(words, config)[places]
    return found[:, :region.columns]


def write_rows(driver: Driver, job: Job, name: Tensor, values: IntArray, first: int = 0) -> None:
    """Replace rows of a matrix, from one on.

    Parameters
    ----------
    driver, job, name
        As of ``read_rows``.
    values : (n, columns) array of int
        Mantissas.
    first : int
        The first of the rows.
    """
    region, config = job.regions[name], job.config
    rows = first + np.arange(len(values))
    padded = np.zeros((len(values), region.panels * config.lanes), dtype=np.int64)
    padded[:, :region.columns] = values
    for core, chosen, start, _ in _runs(rows, config):
        for panel in range(region.panels):
            part = padded[chosen, panel * config.lanes:(panel + 1) * config.lanes]
            driver.write_words(core, region.space, region.panel(panel, start),
                               pack_rows(part, config))


def read_mask(driver: Driver, job: Job, name: Tensor, columns: int) -> BoolArray:
    """A mask, as (rows, columns) booleans; parameters as of ``read_rows``."""
    region, config = job.regions[name], job.config
    rows = job.rows[name.level]
    parts = [unpack_masks(driver.read_words(core, region.space, region.address, region.words),
                          region.stride, columns, region.stride, config)
             for core in range(config.cores)]
    return undeal(parts, rows, config)


def write_mask(driver: Driver, job: Job, name: Tensor, mask: BoolArray) -> None:
    """Replace a mask; parameters as of ``read_rows``."""
    region: Region = job.regions[name]
    for core in range(job.config.cores):
        words = pack_masks(deal(mask, core, job.config), region.stride, job.config)
        driver.write_words(core, region.space, region.address, words)


def _runs(rows: IntArray, config: Config) -> Iterator[tuple[int, IntArray, int, int]]:
    """For each core that has some of the rows: which ones, its first, and how many from there on.
    """
    cores = core_of(rows, config.cores)
    for core in range(config.cores):
        chosen = np.flatnonzero(cores == core)
        if len(chosen):
            own = row_of(rows[chosen], config.cores)
            yield core, chosen, int(own.min()), int(own.max() - own.min() + 1)
