# SPDX-License-Identifier: BSD-2-Clause
"""Label lists: what LOSS reads is what the model has, vertex by vertex."""

from types import SimpleNamespace

import numpy as np
import pytest

from hypercast.host.compiler.label_list import LabelFormat, label_words
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import loss_of, prepare
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config
from hypercast.rtl.placement import rank_of, rows_of
from tests.host.models import SMALL, small_graph

_CONFIGS = [SMALL, Config(dimensions=2, lanes=16, planes=1), Config(dimensions=0, lanes=4,
                                                                     element_width=8)]


def _model(graph, weights=None):
    network = Network.of_widths([graph.features.shape[1], graph.classes])
    return prepare(graph, network, Recipe(loss=loss_of(graph)), loss_weights=weights)


def _rows(words, layout, panels, config):
    """(record, weight, bits) of each row of whole blocks."""
    records = layout.records(panels * config.lanes, config)
    halves = np.ascontiguousarray(words).view("<u2").reshape(-1, config.info_rows)
    whole = np.zeros((-(-len(halves) // records) * records, config.info_rows), dtype=int)
    whole[:len(halves)] = halves
    for block in whole.reshape(-1, records, config.info_rows):
        bits = block[records - panels:].reshape(config.info_rows, panels)
        for row in range(config.info_rows):
            yield block[0, row], block[1, row], [
                word >> lane & 1 for word in bits[row] for lane in range(config.lanes)]


@pytest.mark.parametrize("config", _CONFIGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_several_labels(config, weighted):
    graph = Graph(**communities(vertices=101, classes=7))
    model = _model(graph, np.linspace(0, 3, 101) if weighted else None)
    layout, panels = LabelFormat.of(model), -(-7 // config.lanes)
    assert layout == (True, weighted)
    for core in range(config.cores):
        found = list(_rows(label_words(model.sample, layout, core, config), layout, panels, config))
        for row in range(rows_of(core, 101, config.cores)):
            rank = rank_of(core, row, config.cores)
            record, weight, bits = found[row]
            assert record == model.sample.splits[rank] << 13
            assert not weighted or weight == model.sample.loss_weights[rank]
            assert bits[:7] == model.sample.labels[rank].tolist() and not any(bits[7:])


def test_one_class_without_weights_is_a_record_a_row():
    model = _model(small_graph(40))
    assert LabelFormat.of(model) == (False, False)
    assert LabelFormat.of(_model(small_graph(40), np.full(40, 4.0))) == (False, False)
    words = np.concatenate([label_words(
        model.sample, LabelFormat(), core, SMALL).view("<u2").ravel()[
        :rows_of(core, 40, SMALL.cores)] for core in range(SMALL.cores)])
    ranks = np.concatenate([rank_of(core, np.arange(rows_of(core, 40, SMALL.cores)), SMALL.cores)
                            for core in range(SMALL.cores)])
    assert words.tolist() == (model.sample.labels | model.sample.splits << 13)[ranks].tolist()


def test_vertices_without_a_label_are_of_no_set():
    """Whatever set they were given: their record is zero."""
    sample = SimpleNamespace(labels=np.array([2, -1, 0, -1]), splits=np.array([1, 1, 2, 3]))
    config = SMALL.replace(dimensions=0)
    words = label_words(sample, LabelFormat(), 0, config).view("<u2").ravel()
    assert words[:4].tolist() == [2 | 1 << 13, 0, 2 << 13, 0] and not words[4:].any()


@pytest.mark.parametrize(("sigmoid", "weighted", "classes", "records"), [
    (False, False, 9, 1), (False, True, 9, 2), (True, False, 2, 2), (True, False, 3, 3),
    (True, True, 4, 4)])
def test_records_of_a_vertex(sigmoid, weighted, classes, records):
    assert LabelFormat(sigmoid, weighted).records(classes, SMALL) == records
