import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.datasets import random_split
from hypercast.host.graphs.graph import GraphError


@given(st.lists(st.integers(-1, 3), max_size=40), st.integers(0, 100), st.integers(0, 100),
       st.integers(0, 9))
def test_every_labelled_vertex_is_in_one_part(labels, train, validation, seed):
    train, validation = train / 100, min(validation, 100 - train) / 100
    labels = np.array(labels, dtype=np.int64)
    parts = random_split(labels, train=train, validation=validation, seed=seed)
    known = np.flatnonzero(labels >= 0)
    assert sorted(np.concatenate(list(parts.values())).tolist()) == known.tolist()
    assert abs(len(parts["train"]) - train * len(known)) <= 0.5
    assert abs(len(parts["test"]) - (1 - train - validation) * len(known)) <= 0.5 + 1e-9


def test_the_seed_decides():
    labels = np.zeros(100, dtype=np.int64)
    one, same, other = (random_split(labels, seed=seed)["train"] for seed in (1, 1, 2))
    assert one.tolist() == same.tolist() != other.tolist()


def test_these_bits():
    """Splits must not change, or results cannot be compared."""
    parts = random_split(np.zeros(10, dtype=np.int64), seed=7)
    assert [part.tolist() for part in parts.values()] == [[0, 1, 3, 6, 7, 8], [2, 4], [5, 9]]


def test_several_labels_per_vertex():
    parts = random_split(np.zeros((10, 3), dtype=bool), train=0.5, validation=0.3)
    assert [len(part) for part in parts.values()] == [5, 3, 2]


@pytest.mark.parametrize("shares", [(0.8, 0.3), (-0.1, 0.5)])
def test_shares_must_fit(shares):
    with pytest.raises(GraphError, match=f"shares of {shares[0]} to train and {shares[1]}"):
        random_split([0, 1], train=shares[0], validation=shares[1])
