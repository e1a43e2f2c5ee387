# SPDX-License-Identifier: BSD-2-Clause
"""Rows of the step before: kept, averaged, aligned to this step's exponent, and summed."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hypercast.reference.rows import Older
from hypercast.reference.stale_rows import SMOOTHING_ONE, KeptRows, StaleChunks, StaleParts
from hypercast.reference.tensor import FEATURES, Kind, Pass, Tensor

T1, DZ1 = Tensor(Kind.COMBINED, 1), Tensor(Kind.GRADIENT, 1)
ROWS = arrays(np.int64, (3, 2), elements=st.integers(-2000, 2000))


@given(st.lists(st.tuples(ROWS, st.integers(-12, -4)), min_size=1, max_size=6))
def test_without_smoothing_rows_are_those_of_the_step_before(steps):
    kept, before = KeptRows(16, 0), None
    for rows, exponent in steps:
        found = kept.replace(T1, rows, exponent)
        if before is None:
            assert np.array_equal(found, rows)
        else:
            wanted = np.ldexp(before[0].astype(float), before[1] - exponent)
            limited = np.clip(np.rint(wanted), -(1 << 15), (1 << 15) - 1)
            assert np.array_equal(found, limited)
        assert np.array_equal(kept.replace(T1, rows, exponent), found)  # once more in this step
        kept.end_step()
        before = rows, exponent


@given(st.lists(ROWS, min_size=2, max_size=8), st.sampled_from([0.25, 0.5, 0.95]))
def test_with_smoothing_they_are_a_running_mean(steps, share):
    kept, mean = KeptRows(16, round(share * SMOOTHING_ONE)), None
    for rows in steps:
        found = kept.replace(T1, rows, -8)
        kept.end_step()
        if mean is not None:
            assert np.allclose(found, mean, atol=0.51 + len(steps) / 256)
        mean = rows if mean is None else share * mean + (1 - share) * rows


def limited(value, width):
    """A fraction, rounded to the nearest integer, half to even, and limited to so many bits."""
    return min(max(round(value), -(1 << width - 1)), (1 << width - 1) - 1)


@given(st.lists(st.tuples(ROWS, st.integers(-70, 70) | st.integers(-12, -4)), min_size=2,
                max_size=8), st.sampled_from([1, SMOOTHING_ONE // 3, 62259, SMOOTHING_ONE - 1]))
def test_the_running_mean_is_the_documented_one(steps, smoothing):
    """In exact fractions: exponents may change, so what was kept is aligned to them first."""
    kept, share, mean = KeptRows(16, smoothing), Fraction(smoothing, SMOOTHING_ONE), None
    for rows, exponent in steps:
        found = kept.replace(T1, rows, exponent)
        kept.end_step()
        own = [Fraction(int(value)) * 256 for value in rows.flat]
        if mean is None:
            assert np.array_equal(found, rows)
            mean, unit = own, exponent - 8
        else:
            assert found.ravel().tolist() == [
                limited(value * Fraction(2) ** (unit - exponent), 16) for value in mean]
            moved = [limited(value * Fraction(2) ** (unit - exponent + 8), 32) for value in mean]
            mean, unit = [Fraction(round(share * before + (1 - share) * new))
                          for before, new in zip(moved, own, strict=True)], exponent - 8
        assert kept.kept[T1].values.ravel().tolist() == mean
        assert kept.kept[T1].exponent == unit


def test_small_changes_are_not_lost():
    kept = KeptRows(8, round(0.95 * SMOOTHING_ONE))
    for value in (0, *[4] * 60):
        found = kept.replace(T1, np.full((1, 1), value), 0)
        kept.end_step()
    assert found == 4


@pytest.mark.parametrize(("exponent", "expected"), [
    (40, 0), (55, 0), (56, 0), (200, 0), (-60, 127), (-4, 127), (-2, 40), (2, 2)])
def test_exponents_far_apart(exponent, expected):
    kept = KeptRows(8, 0)
    kept.replace(T1, np.array([[10, -1]]), 0)
    assert not kept.kept
    kept.end_step()
    assert kept.kept[T1].exponent == -8
    found = kept.replace(T1, np.array([[0, 0]]), exponent)
    assert found[0, 0] == expected
    assert found[0, 1] == (0 if exponent > 0 else max(-(2.0 ** -exponent), -128))


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 99), st.booleans())
def test_parts_sum_their_own_rows_and_old_ones_of_others(vertices, parts, seed, transposed):
    random = np.random.default_rng(seed)
    edges = scipy.sparse.csr_array(random.integers(0, 3, (vertices, vertices)))
    owner = random.integers(parts, size=vertices)
    place, name = StaleParts(owner, edges, 16, 0), DZ1 if transposed else T1
    matrix = edges.T.tocsr() if transposed else edges
    split = (place.transpose if transposed else place.forward)(edges)
    inside = matrix.toarray() * (owner[:, None] == owner[None, :])
    before = None
    for _ in range(3):
        rows = random.integers(-9, 9, (vertices, 2))
        before = rows if before is None else before
        found = split @ place.with_neighbours(
            rows, transposed=transposed, name=name, exponent=0)
        assert np.array_equal(found, inside @ rows + (matrix.toarray() - inside) @ before)
        place.end_step()
        before = rows
    for exact in (FEATURES, name.in_pass(Pass.EVALUATION)):
        found = split @ place.with_neighbours(rows + 1, transposed=transposed, name=exact,
                                              exponent=0)
        assert np.array_equal(found, matrix @ (rows + 1))


def test_what_is_kept_goes_on_elsewhere():
    edges = scipy.sparse.csr_array(np.ones((4, 4), dtype=np.int64))
    one, other = (StaleParts(np.array([0, 0, 1, 1]), edges, 16, 100) for _ in range(2))
    rows = np.arange(8).reshape(4, 2)
    one.with_neighbours(rows, transposed=False, name=T1, exponent=-3)
    one.end_step()
    assert set(one.kept) == {T1} and isinstance(one.kept[T1], Older)
    other.keep(one.kept)
    found = [place.with_neighbours(rows + 5, transposed=False, name=T1, exponent=-2)
             for place in (one, other)]
    assert np.array_equal(*found)
    assert not np.array_equal(found[0][4:], rows + 5)


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 99), st.booleans())
def test_chunks_sum_rows_of_those_that_went_before(vertices, chunks, seed, transposed):
    """On the way back, chunks go in reverse: an edge is of this step both ways, or neither."""
    random = np.random.default_rng(seed)
    edges = scipy.sparse.csr_array(random.integers(0, 3, (vertices, vertices)))
    chunk = random.integers(chunks, size=vertices)
    place, name = StaleChunks(chunk, edges, 16), DZ1 if transposed else T1
    been = edges.toarray() * (chunk[None, :] <= chunk[:, None])
    late = edges.toarray() - been
    if transposed:
        been, late = been.T, late.T
    split = (place.transpose if transposed else place.forward)(edges)
    before = None
    for _ in range(3):
        rows = random.integers(-9, 9, (vertices, 2))
        before = rows if before is None else before
        found = split @ place.with_neighbours(
            rows, transposed=transposed, name=name, exponent=0)
        assert np.array_equal(found, been @ rows + late @ before)
        place.end_step()
        before = rows
