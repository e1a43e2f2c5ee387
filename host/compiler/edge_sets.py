"""Edge sets: a header, and the edges of each stream in the order of the flits."""

import numpy as np

from hypercast.host.compiler.images import Words
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config

__all__ = ["empty_edge_sets", "relocate"]


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
    per_word, fields = config.chunks, 2 + 2 * config.streams
    words = -(-sizes // per_word)
    header = -(-fields // per_word)
    streams = header + np.cumsum(words, axis=1) - words
    lengths = header + words.sum(axis=1)
    starts = np.cumsum(lengths) - lengths
    images = np.zeros((int(lengths.sum()), per_word), dtype="<u4")
    heads = np.zeros((len(sizes), fields), dtype="<u4")
    heads[:, 0] = sizes.sum(axis=1)
    heads[:, 2::2], heads[:, 3::2] = streams, words
    images.reshape(-1)[starts[:, None] * per_word + np.arange(fields)] = heads
    return images, starts, ((starts[:, None] + streams) * per_word + sizes).reshape(-1)


def relocate(edge_set: Words, address: int, config: Config) -> Words:
    """The edge set as it has to look at ``address`` of a memory channel."""
    records = edge_set.copy().reshape(-1)
    records[2:2 + 2 * config.streams:2] += np.uint32(address)
    return records.reshape(edge_set.shape)
