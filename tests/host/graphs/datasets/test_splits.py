# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.datasets import random_split, split_per_class
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


def test_scalars_of_numpy_are_plain_numbers():
    labels = np.arange(100) % 3
    for draw, plain in ((random_split, {"train": 0.625, "validation": 0.25, "seed": 3}),
                        (split_per_class, {"train": 5, "validation": 4, "seed": 3})):
        expected = draw(labels, **plain)
        for key, value in plain.items():
            kinds = (np.float32, np.float16) if isinstance(value, float) else (np.int8, np.uint64)
            for form in (*(kind(value) for kind in kinds), np.array(value)):
                found = draw(labels, **{**plain, key: form})
                assert all(np.array_equal(found[part], expected[part]) for part in expected)


@pytest.mark.parametrize(("draw", "wrong"), [
    (random_split, {"train": float("nan")}), (random_split, {"validation": np.float32("nan")}),
    (random_split, {"train": "0.5"}), (random_split, {"train": np.array([0.5, 0.1])}),
    (random_split, {"seed": 1.0}), (random_split, {"seed": -1}), (random_split, {"seed": None}),
    (split_per_class, {"train": 2.5}), (split_per_class, {"validation": -1}),
    (split_per_class, {"seed": np.array([1, 2])})])
def test_what_is_no_share_or_number_is_refused(draw, wrong):
    given = {"train": 0, "validation": 0, "seed": 0, **wrong}
    with pytest.raises(GraphError, match=f"{next(iter(wrong))} must|shares of"):
        draw([0, 1, 1], **given)
