# SPDX-License-Identifier: BSD-2-Clause
import json

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.graphs.datasets import DatasetError, load_saint
from hypercast.host.graphs.graph import Graph
from hypercast.rtl.isa import Split

ADJACENCY = scipy.sparse.csr_matrix(np.array([[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 1],
                                              [0, 0, 1, 0]], dtype=bool))
FEATURES = np.arange(12.0).reshape(4, 3)
ROLES = {"tr": [0, 2], "va": [1], "te": [3]}


@pytest.fixture
def saint(tmp_path):
    scipy.sparse.save_npz(tmp_path / "adj_full.npz", ADJACENCY)
    np.save(tmp_path / "feats.npy", FEATURES)
    (tmp_path / "class_map.json").write_text(json.dumps({"1": 2, "0": 0, "2": 1, "3": 2}))
    (tmp_path / "role.json").write_text(json.dumps(ROLES))
    return tmp_path


def test_one_class_per_vertex(saint):
    graph = Graph.load(saint)
    assert graph.edges.todense().tolist() == ADJACENCY.todense().tolist()
    assert graph.features.tolist() == FEATURES.tolist()
    assert graph.labels.tolist() == [0, 2, 1, 2]
    assert graph.splits.tolist() == [Split.TRAIN, Split.VALIDATION, Split.TRAIN, Split.TEST]


def test_several_classes_per_vertex(saint):
    lists = {"1": [0, 1], "0": [1, 1], "2": [0, 0], "3": [0, 0]}
    (saint / "class_map.json").write_text(json.dumps(lists))
    graph = Graph.load(saint)
    assert graph.multi_label and graph.classes == 2
    assert graph.labels.tolist() == [[True, True], [False, True], [False, False], [False, False]]


def test_graph_to_train_on_is_adj_train(saint):
    graph = Graph.load(saint)
    train = graph.among(np.flatnonzero(graph.splits == Split.TRAIN))
    assert train.edges.todense().tolist() == [[0, 1], [1, 0]]
    assert train.features.tolist() == FEATURES[[0, 2]].tolist()
    assert train.labels.tolist() == [0, 1]


@pytest.mark.parametrize(("name", "message"), [
    ("adj_full.npz", "is damaged or not an archive of NumPy"),
    ("feats.npy", "which take 96 bytes, but has 91"),
    ("class_map.json", ", line 1, column 26: Unterminated string"),
    ("role.json", ", line 1, column 32: Expecting value"),
])
def test_missing_or_damaged_file(saint, name, message):
    content = (saint / name).read_bytes()
    (saint / name).write_bytes(content[:-5])
    with pytest.raises(DatasetError, match=name + message if message[0] == "," else message):
        load_saint(saint)
    (saint / name).unlink()
    with pytest.raises(DatasetError, match=f"{name} does not exist; check the path, or download"):
        load_saint(saint)


@pytest.mark.parametrize(("name", "content", "message"), [
    ("class_map.json", {"9": 1}, "names vertex 9, but the features' vertices are 0 to 3"),
    ("class_map.json", {"4": 1}, "names vertex 4, but the features' vertices are 0 to 3"),
    ("class_map.json", {}, "leaves out 4 of 4 vertices, such as 0"),
    ("class_map.json", {"0": 1}, "leaves out 3 of 4 vertices, such as 1"),
    ("class_map.json", {"0": [0, 1], "1": [1], "2": [1], "3": [1]}, "lists of 1 and of 2 labels"),
    ("class_map.json", {"0": [2, 0], "1": [1, 0], "2": [1, 0], "3": [1, 0]}, "label 0 of vertex"),
    ("class_map.json", {"0": 1, "1": [1], "2": 1, "3": 0}, "is no whole number"),
    ("class_map.json", {"0": 1, "1": 1.0, "2": 1, "3": 0}, r"1\.0 is no whole number"),
    ("class_map.json", {"0": 1, "01": 1, "2": 1, "3": 0}, "'01' is no whole number"),
    ("class_map.json", [1, 2], "is no map from vertices"),
    ("role.json", ["tr", "va", "te"], "has not just the roles tr, va, te"),
    ("role.json", {"tr": [0], "va": [1]}, "has not just the roles tr, va, te"),
    ("role.json", {"tr": [0, 2], "va": [1], "te": []}, "leaves out 1 of 4 vertices, such as 3"),
    ("role.json", {"tr": [0, 2], "va": [0, 1], "te": [3]}, "vertex 0 is in the train and in the"),
    ("role.json", {"tr": [0, 2], "va": [1], "te": [3.0]}, r"role te: 3\.0 is no whole number"),
    ("role.json", {"tr": [0, 2], "va": [1], "te": 3}, "role te: 3 is no list"),
    ("role.json", {"tr": [0, 2], "va": [1], "te": [-1, 3]}, "names vertex -1, but"),
])
def test_contradictions(saint, name, content, message):
    (saint / name).write_text(json.dumps(content))
    with pytest.raises(DatasetError, match=f"{name}.*{message}"):
        load_saint(saint)


def test_keys_that_are_there_twice(saint):
    (saint / "class_map.json").write_text('{"0": 1, "1": 0, "0": 0, "2": 1, "3": 1}')
    with pytest.raises(DatasetError, match=r"class_map\.json: the key '0' is there twice"):
        load_saint(saint)


@pytest.mark.parametrize(("part", "value", "message"), [
    ("indptr", [0, 2, 1 << 20, 5, 6], r"index pointer 3 is 5, after 1048576"),
    ("indptr", [0, 2, 3, 5, 1 << 20], r"index pointers go from 0 to 1048576, but there are 6"),
    ("indptr", [-1, 2, 3, 5, 6], "index pointers go from -1 to 6"),
    ("indptr", [0, 2, 3, 6], "4 index pointers for 4 rows"),
    ("indptr", [0.0, 2, 3, 5, 6], "no vector of whole numbers"),
    ("indices", [1, 2, 0, 0, 3, 4], "index 5 is 4, but columns are 0 to 3"),
    ("indices", [1, 2, 0, 0, 3, -1], "index 5 is -1, but columns"),
    ("indices", [1, 2, 0, 0, 3], "but there are 5 indices and 6 values"),
    ("shape", [4, 3], "index 4 is 3, but columns are 0 to 2"),
    ("shape", [4, 9], r"is of shape \(4, 9\), but .*feats\.npy has 4 rows"),
    ("shape", [4], r"shape \[4\] is not of rows and columns"),
    ("format", b"csc", "another format than csr"),
    ("data", [True, True, True, False, True, True],
     "the entry of row 2 and column 0 is False, so there"),
    ("data", [1.0] * 5 + [np.inf], "the entry of row 3 and column 2 is inf, so there"),
])
def test_matrices_are_checked_before_use(saint, part, value, message):
    with np.load(saint / "adj_full.npz") as file:
        parts = dict(file)
    np.savez(saint / "adj_full.npz", **parts | {part: np.array(value)})
    with pytest.raises(DatasetError, match=rf"adj_full\.npz.* {message}"):
        load_saint(saint)


def test_features_of_other_vertices(saint):
    np.save(saint / "feats.npy", FEATURES[:3])
    (saint / "class_map.json").write_text(json.dumps({"0": 0, "1": 1, "2": 1}))
    with pytest.raises(DatasetError, match=r"adj_full\.npz is of shape \(4, 4\), but .*npy has 3"):
        load_saint(saint)
