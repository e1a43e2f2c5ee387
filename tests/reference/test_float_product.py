# SPDX-License-Identifier: BSD-2-Clause
"""Products of real matrices, and the threads that compute them."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from hypercast.reference import float_product as module
from hypercast.reference.float_product import float_product


def threads():
    """Threads of the BLAS that NumPy has."""
    found = ThreadpoolController().select(user_api="blas")
    return [one.num_threads for one in found.lib_controllers]


@pytest.mark.parametrize("large", [1, 1 << 60])
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 5, 3), (0, 4, 2), (3, 0, 2)])
def test_products_are_those_of_matrices(monkeypatch, shape, large):
    monkeypatch.setattr(module, "_LARGE", large)
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-9, 9, size).astype(np.float64) for size in (shape[:2], shape[1:]))
    before = threads()
    np.testing.assert_array_equal(float_product(a, b), np.einsum("ij,jk->ik", a, b))
    assert threads() == before


def test_a_small_product_has_one_thread(monkeypatch):
    class Seen(np.ndarray):
        def __matmul__(self, other):
            found.extend(threads())
            return np.asarray(self) @ other

    one = np.ones((2, 2))
    for large, most in ((1 << 60, 1), (1, max(threads()))):
        found = []
        monkeypatch.setattr(module, "_LARGE", large)
        float_product(one.view(Seen), one)
        assert max(found) == most
