"""Packs a matrix word-sparse: only its non-zero words, each with its row.

Words are stored panel by panel, within a panel tile by tile of rows; an index tells where the words
of each panel lie. The formats are those of ``docs/blocks.md``.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from hypercast.host.packing import pack_records, pack_rows

__all__ = ["MAXIMUM_ROWS", "SparseWords", "index_words"]

#: Rows of a core that a row number in memory can tell apart; stored plus one, zero is none.
MAXIMUM_ROWS = (1 << 16) - 1
_ROW = np.dtype("<u2")
#: Bits of an index entry: address and number of words.
_ENTRY = 64


def index_words(panels, config):
    """Memory words of an index of ``panels`` entries."""
    return -(-panels * _ENTRY // config.word_width)


@dataclass(frozen=True, kw_only=True)
class SparseWords:
    """A core's part of a matrix, word-sparse.

    Parameters
    ----------
    words : numpy.ndarray
        Memory image, (words, chunks) ``uint32``.
    sizes : numpy.ndarray
        (panels, tiles) memory words of each panel's part in each tile of rows, as they follow each
        other.
    """

    words: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, matrix, tile_rows, config):
        """Pack a matrix.

        Parameters
        ----------
        matrix : (rows, columns) array or scipy.sparse array of int
            Elements; a sparse one is never made dense. At most ``MAXIMUM_ROWS`` rows.
        tile_rows : int
            Rows of a tile. Each panel has at least one word in each tile, if only a zero one: there
            is something to begin with.
        config : Config
            Configuration of the chip.
        """
        entries = scipy.sparse.coo_array(matrix)
        kept = entries.data != 0
        row, column = (coordinate[kept].astype(np.int64) for coordinate in entries.coords)
        rows, columns = matrix.shape
        panels, tiles = -(-columns // config.lanes), -(-rows // tile_rows)

        # A word's number is ``panel * rows + row``: numbers ascend as words lie in memory.
        element_word = column // config.lanes * rows + row
        firsts = np.add.outer(np.arange(panels) * rows, np.arange(tiles) * tile_rows).ravel()
        word = np.unique(element_word)
        empty = np.setdiff1d(np.arange(panels * tiles), _parts(word, rows, tiles, tile_rows))
        word = np.union1d(word, firsts[empty])
        values = np.zeros((len(word), config.lanes), dtype=np.int64)
        values[np.searchsorted(word, element_word), column % config.lanes] = entries.data[kept]
        return cls._grouped(word, values, (panels, tiles), rows, tile_rows, config)

    @classmethod
    def _grouped(cls, word, values, shape, rows, tile_rows, config):
        """Put a word of row numbers in front of every ``word_width / 16`` words of a part."""
        group = config.word_width // (8 * _ROW.itemsize)
        part = _parts(word, rows, shape[1], tile_rows)
        counts = np.bincount(part, minlength=shape[0] * shape[1])
        sizes = counts + -(-counts // group)
        starts = np.cumsum(sizes) - sizes
        within = np.arange(len(word)) - np.repeat(np.cumsum(counts) - counts, counts)
        heads = starts[part] + within // group * (group + 1)

        image = np.zeros((int(sizes.sum()), config.chunks), dtype=np.uint32)
        image[heads + 1 + within % group] = pack_rows(values, config)
        numbers = np.zeros((len(image), group), dtype=_ROW)
        numbers[heads, within % group] = word % rows + 1 if rows else 0
        image[heads] = pack_records(numbers, config)[heads]
        return cls(words=image, sizes=sizes.reshape(shape))

    def index(self, address, config, *, tile=None, first=0, panels=None):
        """The index of panels ``first .. first + panels - 1`` (all from ``first`` on by default).

        Parameters
        ----------
        address : int
            Where the words lie in the memory channel.
        tile : int or None
            Tile of rows; None for all rows.

        Returns
        -------
        numpy.ndarray
            (words, chunks) ``uint32``.
        """
        starts = (np.cumsum(self.sizes) - self.sizes.ravel()).reshape(self.sizes.shape)
        sizes, last = self.sizes, None if panels is None else first + panels
        if tile is not None:
            starts, sizes = starts[:, tile:tile + 1], sizes[:, tile:tile + 1]
        entries = np.zeros((len(sizes[first:last]), 2), dtype="<u4")
        if sizes.shape[1]:
            entries[:, 0] = address + starts[first:last, 0]
            entries[:, 1] = sizes[first:last].sum(axis=1)
        return pack_records(entries, config)


def _parts(word, rows, tiles, tile_rows):
    """Number of the part (panel and tile) that each word belongs to."""
    panel, row = np.divmod(word, max(rows, 1))
    return panel * tiles + row // tile_rows
