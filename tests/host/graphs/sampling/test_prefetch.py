# SPDX-License-Identifier: BSD-2-Clause
"""Results come in order, a few ahead, and errors in their place."""

import itertools
import threading
import time

import numpy as np
import pytest

from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.prefetch import batches, prefetch
from tests.host.graphs.sampling.sampling_cases import matrix_of
from tests.host.graphs.sampling.test_neighbour import digest


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_order(workers):
    def slow(number):
        time.sleep(0.004 * (number % 3 == 0))
        return number * number

    assert list(prefetch(slow, range(20), workers=workers)) == [n * n for n in range(20)]


#: As many threads as are asked for; two if nobody asks.
TWO = pytest.mark.parametrize("workers", [{}, {"workers": 2}])


@TWO
def test_only_a_few_ahead(workers):
    asked = []
    results = prefetch(asked.append, itertools.count(), **workers)
    for taken in range(1, 6):
        next(results)
        assert len(asked) <= taken + 4
    results.close()
    count = len(asked)
    time.sleep(0.02)
    assert len(asked) == count


@TWO
def test_threads_work_side_by_side(workers):
    """Each result needs that another is being made at the same time."""
    meeting = threading.Barrier(2, timeout=30)
    assert len(list(prefetch(lambda number: meeting.wait(), range(6), **workers))) == 6


def test_error_in_its_place():
    results = prefetch(lambda number: 1 / (3 - number), range(9))
    assert [next(results) for _ in range(3)] == [1 / 3, 1 / 2, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


@pytest.mark.parametrize("workers", [1, 4])
def test_batches(workers):
    sampler = NeighbourSampler(matrix_of(50, 900), np.arange(50), (4, 7), batch_size=8)
    found = [digest(batch) for batch in batches(sampler, 3, workers=workers)]
    assert found == [digest(sampler.batch(3, number)) for number in range(7)]


def test_workers_are_checked():
    with pytest.raises(ValueError, match="workers must be at least 1, not 0"):
        list(prefetch(str, [1], workers=0))
