"""Places the input features in memory: all words, or only the non-zero ones if that is less."""

import scipy.sparse

from hypercast.host.memory_map import index_name
from hypercast.host.packing import deal, pack_panels
from hypercast.host.sparse_words import MAXIMUM_ROWS, SparseWords, index_words
from hypercast.reference.network import COMBINE_FIRST

__all__ = ["Features"]

_NAME = "X"


class Features:
    """The input features of a job, word-sparse if the busiest core then reads fewer words.

    Parameters
    ----------
    model : FixedGcn
        Gives features and network. Messages take whole panels: what a first layer aggregates
        before it combines is dense.
    rows : int
        Rows a core has to hold at most.
    config : Config
        Configuration of the chip.
    word_sparse : bool
        False to store all words in any case.
    """

    def __init__(self, model, rows, config, *, word_sparse=True):
        self._config = config
        self._columns = model.network.features
        self._tiles = range(0, max(rows, 1), config.accumulator_rows)
        self._parts = [deal(_rows(model.tensors[_NAME]), core, config)
                       for core in range(config.cores)]
        self._sparse = None
        combined = model.network.layers[0].order == COMBINE_FIRST
        if word_sparse and combined and rows <= MAXIMUM_ROWS:
            sparse = [SparseWords.of(part, config.accumulator_rows, config) for part in self._parts]
            panels = -(-self._columns // config.lanes)
            read = max(len(part.words) for part in sparse)
            if read + len(self._tiles) * index_words(panels, config) < rows * panels:
                self._sparse = sparse
        self._indices = []  # (region, fields of ``SparseWords.index``)

    def place(self, memory, chunks):
        """Allocate the words, and the indices if they are word-sparse.

        Parameters
        ----------
        memory : MemoryMap
            Where to.
        chunks : iterable of (int, int)
            First panel and number of panels of each weight gradient.
        """
        if self._sparse is None:
            memory.matrix(_NAME, 0, self._columns)
            return
        memory.words(_NAME, 0, max(len(part.words) for part in self._sparse))
        panels = -(-self._columns // self._config.lanes)
        wanted = [({"tile": tile}, index_name(_NAME, row=row), panels)
                  for tile, row in enumerate(self._tiles)]
        wanted += [({"first": first, "panels": count}, index_name(_NAME, panel=first), count)
                   for first, count in chunks]
        for fields, name, count in wanted:
            words = index_words(count, self._config)
            self._indices.append((memory.words(name, 1, words), fields))

    def fill(self, memory, images):
        """Append what was placed to every core's image."""
        region = memory[_NAME]
        if self._sparse is None:
            for part, image in zip(self._parts, images, strict=True):
                dense = part.toarray() if scipy.sparse.issparse(part) else part
                image.append((_NAME, pack_panels(dense, region.stride, self._config)))
            return
        for part, image in zip(self._sparse, images, strict=True):
            image.append((_NAME, part.words))
            for index, fields in self._indices:
                image.append((index.name, part.index(region.address, self._config, **fields)))


def _rows(matrix):
    """A matrix of which rows can be taken."""
    return matrix.tocsr() if scipy.sparse.issparse(matrix) else matrix
