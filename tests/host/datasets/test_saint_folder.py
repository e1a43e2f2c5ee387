import json

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.datasets import DatasetError, load_saint
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
    graph = load_saint(saint)
    assert graph.edges.todense().tolist() == ADJACENCY.todense().tolist()
    assert graph.features.tolist() == FEATURES.tolist()
    assert graph.labels.tolist() == [0, 2, 1, 2]
    assert graph.splits.tolist() == [Split.TRAIN, Split.VALIDATION, Split.TRAIN, Split.TEST]


def test_several_classes_per_vertex(saint):
    lists = {"1": [0, 1], "0": [1, 1], "3": [0, 0]}
    (saint / "class_map.json").write_text(json.dumps(lists))
    graph = load_saint(saint)
    assert graph.multi_label and graph.classes == 2
    assert graph.labels.tolist() == [[True, True], [False, True], [False, False], [False, False]]


def test_graph_to_train_on_is_adj_train(saint):
    graph = load_saint(saint)
    train = graph.among(np.flatnonzero(graph.splits == Split.TRAIN))
    assert train.edges.todense().tolist() == [[0, 1], [1, 0]]
    assert train.features.tolist() == FEATURES[[0, 2]].tolist()
    assert train.labels.tolist() == [0, 1]


@pytest.mark.parametrize("name", ["adj_full.npz", "feats.npy", "class_map.json", "role.json"])
def test_missing_or_damaged_file(saint, name):
    content = (saint / name).read_bytes()
    (saint / name).write_bytes(content[:-5])
    with pytest.raises(DatasetError, match="damaged or not a data set in GraphSAINT's layout"):
        load_saint(saint)
    (saint / name).unlink()
    with pytest.raises(DatasetError, match=f"{name} does not exist; check the path or download"):
        load_saint(saint)


@pytest.mark.parametrize(("name", "content", "message"), [
    ("class_map.json", {"9": 1}, r"names vertices 9 to 9, but feats\.npy has rows 0 to 3"),
    ("class_map.json", {"0": 1}, "vertex 2 of the train split has no label"),
    ("class_map.json", {"0": [0, 1], "1": [1]}, "damaged"),
    ("role.json", {"tr": [0], "va": [1]}, "'te'"),
    ("role.json", {"tr": [0], "va": [0], "te": []}, "vertex 0 is in the train and in the"),
])
def test_contradictions(saint, name, content, message):
    (saint / name).write_text(json.dumps(content))
    with pytest.raises(DatasetError, match=message):
        load_saint(saint)


def test_features_of_other_vertices(saint):
    np.save(saint / "feats.npy", FEATURES[:3])
    (saint / "class_map.json").write_text(json.dumps({"0": 0, "1": 1, "2": 1}))
    with pytest.raises(DatasetError, match="vertices are 0 to 2"):
        load_saint(saint)
