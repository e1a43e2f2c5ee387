# SPDX-License-Identifier: BSD-2-Clause
"""How input features are stored, and what products of them take."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler import features
from hypercast.host.compiler.features import Features, fill_dense
from hypercast.host.compiler.memory_map import Listing, MemoryMap, index_name
from hypercast.host.compiler.operand_map import LeftOperand
from hypercast.host.compiler.packing import deal, unpack_panels
from hypercast.host.compiler.sparse_words import index_words
from hypercast.reference.network import AGGREGATE_FIRST, Network
from hypercast.reference.sample import Mantissas
from hypercast.reference.tensor import FEATURES
from tests.host.models import SMALL
from tests.host.noted_programs import noted, summary
from tests.host.sparse_model import indexed_panels


@pytest.mark.parametrize("name", [
    "plain", "word-sparse", "word-sparse, not held", "aggregated first"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


def test_features_that_are_aggregated_are_dense():
    model = SimpleNamespace(network=Network.of_widths([6, 4, 2], orders=(AGGREGATE_FIRST,) * 2),
                            sample=SimpleNamespace(features=Mantissas(np.eye(64, 6, dtype=int), 0)))
    found = Features(model, 32, SMALL.replace(accumulator_rows=64))
    assert found.words is None


@pytest.mark.parametrize(("rows", "sparse"), [(5, False), (6, True)])
def test_words_are_left_out_if_that_is_less(rows, sparse):
    """One panel takes 2 words, 1 of row numbers and 2 of index: fewer than 6, not fewer than 5."""
    values = np.zeros((2 * rows, 2), dtype=int)
    values[:4] = 1  # two rows of each core
    model = SimpleNamespace(network=Network.of_widths([2, 4, 2]),
                            sample=SimpleNamespace(features=Mantissas(values, 0)))
    found = Features(model, rows, SMALL)
    assert (found.words is not None) == sparse
    assert not sparse or found.words.tolist() == [[[2]], [[2]]]


def placed(values, rows, config, firsts=(0,), **options):
    """Features of a network, in a memory map, and the images of all cores."""
    model = SimpleNamespace(network=Network.of_widths([values.shape[1], 4, 2]),
                            sample=SimpleNamespace(features=Mantissas(values, 0)))
    found, memory = Features(model, rows, config, **options), MemoryMap(config, [rows])
    memory.words("before", 0, 7)
    found.place(memory, firsts)
    images = [[] for _ in range(config.cores)]
    found.fill(memory, images)
    return found, memory, [dict(image) for image in images]


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_array])
def test_dense_words(form):
    """Panel by panel, whatever form the matrix has; also of another sample."""
    values = np.arange(11 * 5).reshape(11, 5)
    found, memory, images = placed(form(values), 6, SMALL, word_sparse=False)
    region = memory[FEATURES]
    assert (region.channel, region.columns, region.words, found.words) == (0, 5, 18, None)
    assert found.operand([0]) == LeftOperand.dense(FEATURES, 3, 6)
    others = [[] for _ in range(2)]
    fill_dense(form(values), region, others, SMALL)
    for core, (image, other) in enumerate(zip(images, others, strict=True)):
        own = deal(values, core, SMALL)
        assert list(image) == [name for name, _ in other] == [FEATURES]
        for words in (image[FEATURES], other[0][1]):
            assert np.array_equal(unpack_panels(words, len(own), 5, 6, SMALL), own)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_array])
def test_sparse_words(form):
    """The index from panel 0 is of all panels; others end where the next one begins."""
    values = np.where(np.random.default_rng(0).random((31, 90)) < 0.03, 5, 0)
    firsts, config = (0, 10, 33), SMALL.replace(lanes=2)
    found, memory, images = placed(form(values), 16, config, firsts)
    indices = {0: 45, 10: 23, 33: 12}
    assert found.operand(firsts) == LeftOperand.sparse(FEATURES, firsts, found.words)
    assert memory[FEATURES].channel == 0
    assert memory[FEATURES].words == max(len(image[FEATURES]) for image in images)
    for first, panels in indices.items():
        name = index_name(FEATURES, first)
        region = memory[name]
        assert (region.channel, region.listing) == (1, Listing.INDEX)
        for core, image in enumerate(images):
            own = deal(values, core, config)
            assert len(image[name]) == region.words == index_words(panels, config)
            stored = list(indexed_panels(image[FEATURES], image[name], 7, config))[:panels]
            assert len(stored) == panels
            for panel, (numbers, words) in enumerate(stored, first):
                part = own[:, panel * 2:panel * 2 + 2]
                assert np.array_equal(words, part[numbers]) and words.sum() == part.sum()
                assert found.words[core, 0, panel] == len(numbers)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("vertices", [33, 64, 101])
def test_sparse_words_of_strips(form, vertices):
    """Each strip has indices of its own, whose row numbers count from its first row."""
    values = np.where(np.random.default_rng(vertices).random((vertices, 60)) < 0.05, 7, 0)
    firsts, config = (0, 9), SMALL.replace(lanes=2, accumulator_rows=16)
    rows = -(-vertices // config.cores)
    found, _, images = placed(form(values), rows, config, firsts)
    strips = range(0, rows, 16)
    assert found.words.shape == (config.cores, len(strips), 30)
    assert found.operand(firsts).sizes == ()
    for core, image in enumerate(images):
        own = deal(values, core, config)
        for number, row in enumerate(strips):
            for first, panels in ((0, 30), (9, 21)):
                part = own[row:row + 16]
                index = image[index_name(FEATURES, first, row)]
                stored = list(indexed_panels(image[FEATURES], index, 7, config))[:panels]
                if not len(part):
                    continue
                for panel, (numbers, words) in enumerate(stored, first):
                    columns = part[:, panel * 2:panel * 2 + 2]
                    assert np.array_equal(words, columns[numbers])
                    assert words.sum() == columns.sum()
                    assert found.words[core, number, panel] == len(numbers)


@pytest.mark.parametrize("rows", [20, 40])
def test_features_of_few_zeros_are_not_packed(rows, monkeypatch):
    monkeypatch.setattr(features, "SparseWords", None)
    model = SimpleNamespace(network=Network.of_widths([9, 4, 2]),
                            sample=SimpleNamespace(features=Mantissas(np.ones((2 * rows, 9)), 0)))
    assert Features(model, rows, SMALL.replace(accumulator_rows=16)).words is None
