# SPDX-License-Identifier: BSD-2-Clause
"""Edge sets: a header, and the edges of each stream in the order of the flits."""

import numpy as np

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.message_kernels import write_headers
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config

__all__ = ["edge_set_words", "empty_edge_sets", "relocate"]


def empty_edge_sets(sizes: IntArray, config: Config) -> tuple[Words, IntArray, IntArray]:
    """Edge sets of all cores, one after the other, but for their edges.

    Parameters
    ----------
    sizes : (cores, streams) array of int64
        Edges of each stream.

    Returns
    -------
    images : numpy.ndarray
        (words, chunks) ``uint32`` with headers, stream addresses relative to the edge set.
    starts : (cores,) array of int64
        First word of each core's edge set.
    ends : (cores * streams,) array of int64
        Where the edges of each stream end, in records.
    """
    per_word, header = config.chunks, edge_set_words(0, config)
    words = len(sizes) * header + int((-(-sizes // per_word)).sum())
    images = np.zeros((words, per_word), dtype="<u4")
    starts, ends = np.empty(len(sizes), dtype=np.int64), np.empty(sizes.size, dtype=np.int64)
    write_headers(sizes, header, starts, ends, images)
    return images, starts, ends


def edge_set_words(edges: int, config: Config) -> int:
    """Words of an edge set with ``edges`` words of edges: there is a header before them."""
    return -(-(2 + 2 * config.streams) // config.chunks) + edges


def relocate(edge_set: Words, address: int, config: Config) -> Words:
    """The edge set as it has to look at ``address`` of a memory channel."""
    records = edge_set.copy().reshape(-1)
    records[2:2 + 2 * config.streams:2] += np.uint32(address)
    return records.reshape(edge_set.shape)
