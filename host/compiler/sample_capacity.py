# SPDX-License-Identifier: BSD-2-Clause
"""The most that samples of a training take, by what some of them take."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from hypercast.reference.array_types import IntArray
from hypercast.reference.sample import Sample

__all__ = ["SLACK", "Capacity", "edge_counts"]

#: A capacity is this share larger than the samples that are known.
SLACK = 0.15


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The most that samples of a training take.

    Parameters
    ----------
    rows : tuple of int
        Rows of the input, and of every layer's output.
    edges : float
        Words of edges, as a multiple of what the first sample takes.
    square : bool
        Whether in all of them all layers have the same vertices. Some samples of neighbours have,
        by chance.
    """

    rows: tuple[int, ...]
    edges: float
    square: bool = False

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Self:
        """Capacity for samples like the given ones, the first one among them, and some more."""
        rows = np.array([sample.rows for sample in samples])
        edges = np.array([edge_counts(sample) for sample in samples])
        return cls(rows=tuple(math.ceil(count * (1 + SLACK)) for count in rows.max(axis=0)),
                   edges=(1 + SLACK) * float((edges.max(axis=0) / edges[0]).max()),
                   square=bool((rows == rows[:, :1]).all()))


def edge_counts(sample: Sample) -> IntArray:
    """Edges of a sample's largest matrix, and of rows that are added; at least 1 each."""
    return np.array([max(1, *map(sample.sent_edges, sample.edges)), max(1, sample.sent_roots)])
