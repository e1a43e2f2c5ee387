# SPDX-License-Identifier: BSD-2-Clause
"""Packs a matrix word-sparse: only its non-zero words, each with its row.

Words are stored panel by panel; an index tells where the words of each panel lie. The formats are
in ``docs/blocks.md``.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.packing import pack_records, pack_rows
from hypercast.reference.array_types import FloatMatrix, IntArray, IntMatrix
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROW_NUMBER_WIDTH

__all__ = ["MAXIMUM_ROWS", "SparseWords", "index_words", "nonzero_words"]

#: Rows of a core that a row number in memory can tell apart; stored plus one, zero is none.
MAXIMUM_ROWS = (1 << ROW_NUMBER_WIDTH) - 1
_ROW = np.dtype(f"<u{ROW_NUMBER_WIDTH // 8}")
#: Bits of an index entry: address and number of words.
_ENTRY = 64


def index_words(panels: int, config: Config) -> int:
    """Memory words of an index of ``panels`` entries."""
    return -(-panels * _ENTRY // config.word_width)


def nonzero_words(matrix: FloatMatrix | IntMatrix, lanes: int) -> IntArray:
    """Words of each panel that are not all zero.

    Parameters
    ----------
    matrix : (rows, columns) array or scipy.sparse array
        Elements; a sparse one is never made dense.
    lanes : int
        Elements of a word.

    Returns
    -------
    numpy.ndarray
        (panels,) int64.
    """
    panels = -(-matrix.shape[1] // lanes)
    if isinstance(matrix, scipy.sparse.sparray):
        entries = scipy.sparse.coo_array(matrix)
        rows, columns = (one[entries.data != 0].astype(np.int64) for one in entries.coords)
        words = np.unique(rows * panels + columns // lanes)
        found: IntArray = np.bincount(words % panels, minlength=panels)
        return found
    starts = np.arange(0, matrix.shape[1], lanes)
    found = np.count_nonzero(np.logical_or.reduceat(matrix != 0, starts, axis=1), axis=0)
    return found


@dataclass(frozen=True, kw_only=True)
class SparseWords:
    """A core's part of a matrix, word-sparse.

    Parameters
    ----------
    words : numpy.ndarray
        Memory image, (words, chunks) ``uint32``.
    sizes : numpy.ndarray
        (panels,) memory words of each panel, as they follow each other.
    counts : numpy.ndarray
        (panels,) words of the matrix among them.
    """

    words: Words
    sizes: IntArray
    counts: IntArray

    @classmethod
    def of(cls, matrix: IntMatrix, config: Config) -> Self:
        """Pack a matrix.

        Parameters
        ----------
        matrix : (rows, columns) array or scipy.sparse array of int
            Elements; a sparse one is never made dense. At most ``MAXIMUM_ROWS`` rows. Each panel
            gets at least one word, if only a zero one: there is something to begin with.
        config : Config
            Configuration of the chip.
        """
        entries = scipy.sparse.coo_array(matrix)
        kept = entries.data != 0
        row, column = (coordinate[kept].astype(np.int64) for coordinate in entries.coords)
        rows, columns = matrix.shape
        panels = -(-columns // config.lanes)
        if rows == 0:
            empty = np.zeros(panels, dtype=np.int64)
            return cls(words=np.zeros((0, config.chunks), dtype=np.uint32), sizes=empty,
                       counts=empty)

        # A word's number is ``panel * rows + row``: numbers ascend as words lie in memory.
        element_word = column // config.lanes * rows + row
        word = np.unique(element_word)
        missing = np.setdiff1d(np.arange(panels), word // rows)
        word = np.union1d(word, missing * rows)
        values = np.zeros((len(word), config.lanes), dtype=np.int64)
        values[np.searchsorted(word, element_word), column % config.lanes] = entries.data[kept]

        # A word of row numbers is in front of as many words of a panel.
        group = config.row_numbers
        panel = word // rows
        counts = np.bincount(panel, minlength=panels)
        sizes = counts + -(-counts // group)
        starts = np.cumsum(sizes) - sizes
        within = np.arange(len(word)) - np.repeat(np.cumsum(counts) - counts, counts)
        heads = starts[panel] + within // group * (group + 1)
        image = np.zeros((int(sizes.sum()), config.chunks), dtype=np.uint32)
        image[heads + 1 + within % group] = pack_rows(values, config)
        numbers = np.zeros((len(image), group), dtype=_ROW)
        numbers[heads, within % group] = word % rows + 1
        image[heads] = pack_records(numbers, config)[heads]
        return cls(words=image, sizes=sizes, counts=counts)

    def index(self, address: int, config: Config, first: int, panels: int) -> Words:
        """The index of panels ``first .. first + panels - 1``.

        Parameters
        ----------
        address : int
            Where the words lie in the memory channel.

        Returns
        -------
        numpy.ndarray
            (words, chunks) ``uint32``.
        """
        entries = np.zeros((panels, 2), dtype="<u4")
        entries[:, 0] = address + (np.cumsum(self.sizes) - self.sizes)[first:first + panels]
        entries[:, 1] = self.sizes[first:first + panels]
        return pack_records(entries, config)
