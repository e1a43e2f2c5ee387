# SPDX-License-Identifier: BSD-2-Clause
"""Small matrices to sample, and bounds of statistical tests."""

import math

import numpy as np
import scipy.sparse
from hypothesis import strategies as st

__all__ = ["deviation", "matrices", "matrix_of"]

#: Probability that a test of random numbers fails for no reason, if seeds were not fixed.
_ERROR = 1e-9


def deviation(samples, events=1):
    """How far the mean of ``samples`` numbers between 0 and 1 is from its expected value at most.

    Of all of ``events`` such means. (Hoeffding, Probability Inequalities for Sums of Bounded Random
    Variables, 1963.)
    """
    return math.sqrt(math.log(2 * events / _ERROR) / (2 * samples))


def matrix_of(vertices, edges, *, seed=0, loops=True):
    """A random (vertices, vertices) CSR array of different weights, not symmetric."""
    generator = np.random.default_rng(seed)
    chosen = np.flatnonzero(~np.eye(vertices, dtype=bool).ravel())
    places = generator.choice(chosen, min(edges, len(chosen)), replace=False)
    dense = np.zeros(vertices * vertices)
    dense[places] = generator.integers(1, 64, len(places)) / 64
    dense = dense.reshape(vertices, vertices)
    if loops:
        dense += np.diag(generator.integers(1, 64, vertices) / 64)
    return scipy.sparse.csr_array(dense)


@st.composite
def matrices(draw):
    """Matrices with and without loops, isolated vertices and full rows."""
    vertices = draw(st.integers(1, 30))
    return matrix_of(vertices, draw(st.integers(0, vertices * vertices)),
                     seed=draw(st.integers(0, 99)), loops=draw(st.booleans()))
