"""How input features are stored, and what products of them take."""

from types import SimpleNamespace

import numpy as np
import pytest

from hypercast.host.compiler.features import Features
from hypercast.reference.network import AGGREGATE_FIRST, Network
from hypercast.reference.sample import Mantissas
from tests.host.models import SMALL
from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", [
    "plain", "word-sparse", "word-sparse, not held", "aggregated first"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


@pytest.mark.parametrize(("rows", "entries", "remedy"), [
    (32, 3, False),  # they fit as they are
    (33, 3, True), (33, 46, True), (33, 47, False), (64, 92, True), (64, 93, False)])
def test_a_remedy_is_named_if_rows_alone_forbid_sparse_words(rows, entries, remedy):
    """That is if entries, and a word of index for each of 3 panels, are less than half the words.
    """
    config = SMALL.replace(accumulator_rows=32)
    values = np.zeros((rows, 2, 3, 2), dtype=np.int64)  # a core has every other vertex
    for place in range(entries):
        values[place % rows, :, place // rows, 0] = 1
    features = Mantissas(values.reshape(2 * rows, 6), 0)
    model = SimpleNamespace(network=Network.of_widths([6, 4, 2]),
                            sample=SimpleNamespace(features=features))
    found = Features(model, rows, config)
    assert bool(found.remedies) == remedy
    assert (found.words is None) == (rows > 32)
    dense = Features(model, rows, config, word_sparse=False)
    assert not dense.remedies and dense.words is None


def test_features_that_are_aggregated_are_dense():
    model = SimpleNamespace(network=Network.of_widths([6, 4, 2], orders=(AGGREGATE_FIRST,) * 2),
                            sample=SimpleNamespace(features=Mantissas(np.eye(64, 6, dtype=int), 0)))
    found = Features(model, 32, SMALL.replace(accumulator_rows=64))
    assert found.words is None and not found.remedies


@pytest.mark.parametrize(("rows", "sparse"), [(5, False), (6, True)])
def test_words_are_left_out_if_that_is_less(rows, sparse):
    """Of one panel: two words, one of row numbers and two of index are less than six."""
    values = np.zeros((2 * rows, 2), dtype=int)
    values[:4] = 1  # two rows of each core
    model = SimpleNamespace(network=Network.of_widths([2, 4, 2]),
                            sample=SimpleNamespace(features=Mantissas(values, 0)))
    found = Features(model, rows, SMALL)
    assert (found.words is not None) == sparse
    assert not sparse or found.words.tolist() == [[2], [2]]
