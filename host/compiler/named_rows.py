# SPDX-License-Identifier: BSD-2-Clause
"""Names the rows that are sent, where these are few of a matrix' rows.

They are a batch's, of the whole graph's features in the memory channels, or those that a strip
needs. Each row lies in the core that owns its vertex. A send list names its rows in ascending
order, each by how many rows it is behind the one before it. A gap that is too wide for that is
bridged by records that send nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse

from hypercast.host.compiler.images import Words
from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.rtl.config import Config
from hypercast.rtl.placement import core_of, rank_of, row_of, rows_of

__all__ = ["NamedRows"]


@dataclass(frozen=True, kw_only=True)
class NamedRows:
    """Where rows are in the send lists of the cores that own them.

    Parameters
    ----------
    ranks : (rows,) array of int64
        Where each row is named: the rank (``placement.rank_of``) of its record. Lists of all cores
        are as long as the longest.
    skips : (cores, records) array of uint32
        Rows from what a record names to what the one before it named, or to row 0.
    config : Config
        Configuration of the chip.
    """

    ranks: IntArray
    skips: Words
    config: Config

    @classmethod
    def of(cls, rows: IntArray, config: Config) -> Self:
        """List some rows of a graph, given by rank; each at most once.

        Parameters
        ----------
        rows : (rows,) array of int64
            The rows, in any order.
        config : Config
            Configuration of the chip.
        """
        limit, cores = _limit(config), config.cores
        owners, own = core_of(rows, cores), row_of(rows, cores)
        order = np.lexsort((own, owners))
        owners, own = owners[order], own[order]
        first = np.append(True, np.diff(owners) != 0)[:len(owners)]  # of a core
        gaps = np.where(first, own, np.diff(own, prepend=0))
        bridges = np.maximum(gaps - 1, 0) // limit
        # Records of all cores one after another: ends of what rows take, and where cores begin.
        ends = np.cumsum(bridges + 1)
        begins = np.append(0, ends)[np.searchsorted(owners, np.arange(cores))]
        records = ends - 1 - begins[owners]
        skips = np.zeros((cores, records.max(initial=0) + 1), dtype=np.uint32)
        skips[owners, records] = gaps - bridges * limit
        for index in np.flatnonzero(bridges):
            skips[owners[index], records[index] - bridges[index]:records[index]] = limit
        ranks = np.empty(len(rows), dtype=np.int64)
        ranks[order] = rank_of(owners, records, cores)
        return cls(ranks=ranks, skips=skips, config=config)

    @staticmethod
    def most(rows: int, vertices: int, config: Config) -> int:
        """Records of the longest list that some rows take, unless they are dealt unfairly.

        Parameters
        ----------
        rows : int
            How many rows are listed.
        vertices : int
            Vertices of the graph.
        config : Config
            Configuration of the chip.
        """
        own = -(-vertices // config.cores)
        mean = rows / config.cores
        # Four standard deviations of a core's share.
        return min(own, int(mean + 4 * mean ** 0.5) + 1) + own // _limit(config)

    @property
    def count(self) -> int:
        """Records of all lists together."""
        return self.skips.size

    def columns(self, matrix: SparseArray) -> SparseArray:
        """A matrix of edges with a column for each record instead of each row of the input."""
        return scipy.sparse.csr_array(
            (matrix.data, self.ranks.astype(matrix.indices.dtype)[matrix.indices], matrix.indptr),
            shape=(matrix.shape[0], self.count))

    def list_rows(self, lists: Sequence[Words]) -> list[Words]:
        """Send lists, one for each core, with the rows that their records name."""
        config = self.config
        place, shift = divmod(config.cores + 2, 32)
        width = config.send_record_width // 32
        found = []
        for core, words in enumerate(lists):
            count = rows_of(core, self.count, config.cores)
            words = words.copy()
            words.reshape(-1)[place:count * width:width] |= self.skips[core, :count] << shift
            found.append(words)
        return found


def _limit(config: Config) -> int:
    """Rows that a record skips at most: as many as fit a 32-bit part of it, too."""
    return (1 << min(config.skip_width, 30)) - 1
