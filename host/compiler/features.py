# SPDX-License-Identifier: BSD-2-Clause
"""Places the input features in memory: all words, or only the non-zero ones if that is less."""

import itertools
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse

from hypercast.host.compiler.images import Image
from hypercast.host.compiler.memory_map import Listing, MemoryMap, Region, index_name
from hypercast.host.compiler.operand_map import LeftOperand
from hypercast.host.compiler.packing import deal, pack_panels
from hypercast.host.compiler.sparse_words import SparseWords, index_words, nonzero_words
from hypercast.host.compiler.vertices import blocks_of, strips_of
from hypercast.reference.array_types import IntArray, IntMatrix
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST
from hypercast.reference.sample import Mantissas
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import Config

__all__ = ["Features", "fill_dense"]


class Features:
    """The input features of a job, word-sparse if the busiest core then reads fewer words.

    Parameters
    ----------
    model : InitialModel
        Gives features and network. Messages take whole panels: features that a layer
        aggregates before it combines them are dense.
    rows : int
        Rows a core has to hold at most.
    config : Config
        Configuration of the chip.
    word_sparse : bool
        False to store all words in any case.
    resident : Mantissas, optional
        Features of the whole graph, if they are to be stored instead of the sample's.
    """

    def __init__(self, model: InitialModel, rows: int, config: Config, *,
                 word_sparse: bool = True, resident: Mantissas | None = None) -> None:
        matrix = resident or model.sample.features
        self._config = config
        self._columns = model.network.features
        self._rows = rows
        self._panels = -(-self._columns // config.lanes)
        self._parts = [deal(_rows(matrix.values), core, config)
                       for core in range(config.cores)]
        self._firsts = [block.first for block in blocks_of(
            strips_of(rows * config.cores, config), config.accumulator_rows, alike=True)]
        self._sparse: list[list[SparseWords]] | None = None  # of cores, of blocks
        # A bound is asked first: packing words takes long where few are zero.
        most = rows * self._panels - len(self._firsts) * index_words(self._panels, config)
        if word_sparse and AGGREGATE_FIRST not in model.network.feature_orders and all(
                nonzero_words(part, config.lanes).sum() < most for part in self._parts):
            sparse = [[SparseWords.of(part[first:first + config.accumulator_rows], config)
                       for first in self._firsts] for part in self._parts]
            if max(sum(len(block.words) for block in blocks) for blocks in sparse) < most:
                self._sparse = sparse
        self._indices: list[tuple[Region, int, int, int]] = []  # block, first panel, panels

    @property
    def words(self) -> IntArray | None:
        """Words of every core, block and panel: an array, or None if all are stored."""
        if self._sparse is None:
            return None
        return np.array([[block.counts for block in blocks] for blocks in self._sparse])

    def operand(self, firsts: Sequence[int]) -> LeftOperand:
        """The features as the array takes them, in pieces that begin with panels ``firsts``."""
        words = self.words
        if words is None:
            return LeftOperand.dense(FEATURES, self._panels, self._rows)
        return LeftOperand.sparse(FEATURES, firsts, words)

    def place(self, memory: MemoryMap, firsts: Sequence[int]) -> None:
        """Allocate the words, and indices if they are word-sparse.

        Each block of rows has its own. The index from panel 0 is of all panels, since products may
        read the whole matrix. Others end where the next one begins.

        Parameters
        ----------
        memory : MemoryMap
            The map that gets regions.
        firsts : sequence of int
            First panels of the pieces that are read on their own; 0 is the first of them.
        """
        self._indices.clear()
        if self._sparse is None:
            memory.matrix(FEATURES, 0, self._columns)
            return
        memory.words(FEATURES, 0, max(sum(len(block.words) for block in blocks)
                                      for blocks in self._sparse))
        for (number, row), (first, last) in itertools.product(
                enumerate(self._firsts), pairwise([*firsts, self._panels])):
            last = last if first else self._panels
            words = index_words(last - first, self._config)
            self._indices.append((memory.words(
                index_name(FEATURES, first, row), 1, words, Listing.INDEX),
                number, first, last - first))

    def fill(self, memory: MemoryMap, images: Sequence[Image]) -> None:
        """Append what was placed to every core's image."""
        region = memory[FEATURES]
        if self._sparse is None:
            _fill(self._parts, region, images, self._config)
            return
        for blocks, image in zip(self._sparse, images, strict=True):
            image.append((FEATURES, np.concatenate([block.words for block in blocks])))
            sizes = [len(block.words) for block in blocks]
            for index, number, first, panels in self._indices:
                address = region.address + sum(sizes[:number])
                image.append((index.name, blocks[number].index(
                    address, self._config, first, panels)))


def fill_dense(matrix: IntMatrix, region: Region, images: Sequence[Image], config: Config) -> None:
    """Append all words of a matrix (vertices, columns) to every core's image."""
    matrix = _rows(matrix)
    _fill([deal(matrix, core, config) for core in range(config.cores)], region, images, config)


def _fill(parts: Sequence[IntMatrix], region: Region, images: Sequence[Image],
          config: Config) -> None:
    for part, image in zip(parts, images, strict=True):
        dense = part.toarray() if isinstance(part, scipy.sparse.sparray) else part
        image.append((region.name, pack_panels(dense, region.stride, config)))


def _rows(matrix: IntMatrix) -> IntMatrix:
    """A matrix that gives some of its rows."""
    return matrix.tocsr() if isinstance(matrix, scipy.sparse.sparray) else matrix
