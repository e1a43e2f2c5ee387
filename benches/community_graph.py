# SPDX-License-Identifier: BSD-2-Clause
"""Edges of a large graph with communities, which a division should find."""

import numpy as np
import scipy.sparse

from hypercast.reference.array_types import IntArray, SparseArray

__all__ = ["community_edges", "draw_community_ends"]


def community_edges(vertices: int, edges: int, *, communities: int, inside: float = 0.9,
                    seed: int = 0) -> SparseArray:
    """Edges in both directions, and a loop at each vertex.

    Parameters
    ----------
    vertices, edges : int
        Sizes; edges count in both directions, before some are merged.
    communities : int
        Communities of as many vertices each, which are numbered at random.
    inside : float
        Share of the edges whose ends are drawn from one community; the others lead anywhere.
    seed : int
        Seed of all random choices.

    Returns
    -------
    scipy.sparse.csr_array
        (V, V) ones.
    """
    one, other = draw_community_ends(np.random.default_rng(seed), vertices, edges // 2,
                                     communities=communities, inside=inside).astype(np.int32).T
    loops = np.arange(vertices, dtype=np.int32)
    found = scipy.sparse.csr_array(
        (np.ones(2 * len(one) + vertices, dtype=np.int32),
         (np.concatenate([one, other, loops]), np.concatenate([other, one, loops]))),
        shape=(vertices, vertices))
    found.data[:] = 1
    return found


def draw_community_ends(generator: np.random.Generator, vertices: int, edges: int, *,
                        communities: int, inside: float = 0.9) -> IntArray:
    """Both ends of edges; ``edges`` count once here, the rest is as of ``community_edges``.

    Returns
    -------
    numpy.ndarray
        (edges, 2) int64.
    """
    size = -(-vertices // communities)
    sources = generator.integers(vertices, size=edges)
    first = sources // size * size
    near = first + generator.integers(np.minimum(size, vertices - first))
    far = generator.integers(vertices, size=len(sources))
    targets = np.where(generator.random(len(sources)) < inside, near, far)
    found: IntArray = generator.permutation(vertices)[np.stack([sources, targets], axis=1)]
    return found
