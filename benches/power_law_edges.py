# SPDX-License-Identifier: BSD-2-Clause
"""A matrix of a random graph whose degrees follow the cycle model's power law, of exact size."""

import numpy as np
import scipy.sparse

from hypercast.benches.study.graphs import power_law
from hypercast.reference.array_types import SparseArray

__all__ = ["power_law_edges"]


def power_law_edges(vertices: int, entries: int, seed: int = 0) -> SparseArray:
    """A symmetric matrix with the normalised weights of a GCN: ``1 / sqrt(d(i) d(j))``.

    Each vertex has a loop. The other entries have a power law's degrees, as in the law ``power`` of
    ``Expected``, and join vertices as in the configuration model (Newman, Networks, 2010). Edges
    that are drawn twice, and loops, stay entries of their own. So there are exactly as many as are
    asked for. Vertices of many edges come first.

    Parameters
    ----------
    vertices : int
        Vertices; at least 1.
    entries : int
        Entries: edges in both directions, and loops; at least ``vertices``.
    seed : int
        Seed of all random choices.

    Returns
    -------
    scipy.sparse.csr_array
        (V, V) float32, with indices of 32 bits.
    """
    numbers = np.arange(vertices, dtype=np.int32)
    ends = np.repeat(numbers, power_law(vertices, entries - vertices))
    np.random.default_rng(seed).shuffle(ends)
    pairs = len(ends) // 2
    # The end without a partner, if their number is odd, is one more loop.
    one, other, single = ends[:pairs], ends[pairs:2 * pairs], ends[2 * pairs:]
    rows, columns = (np.concatenate([*parts, single, numbers])
                     for parts in ((one, other), (other, one)))
    roots = np.sqrt(np.bincount(rows, minlength=vertices)).astype(np.float32)
    found = scipy.sparse.coo_array(
        (1 / (roots[rows] * roots[columns]), (rows, columns)), shape=(vertices, vertices))
    found.has_canonical_format = True  # or entries at the same place would be added up
    matrix = found.tocsr()
    matrix.sort_indices()
    return matrix
