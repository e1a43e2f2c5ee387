# SPDX-License-Identifier: BSD-2-Clause
import collections
import gzip
import pickle
import zipfile

import numpy as np
import pytest

from hypercast.host.graphs.datasets import DatasetError, load_ogb, ogb
from hypercast.host.graphs.graph import Graph
from hypercast.rtl.isa import Split

EDGES = np.array([[0, 1], [1, 2], [3, 0]])
FEATURES = np.array([[0.5, -1], [2, 3], [0, 0], [1e-3, 4]], dtype=np.float32)
PARTS = {"train": [0, 2], "valid": [1], "test": [3]}


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        np.savetxt(file, rows, delimiter=",", fmt="%.8g")


def write_split(folder):
    for name, members in PARTS.items():
        write(folder / "split" / "time" / f"{name}.csv.gz", np.array(members))


@pytest.fixture
def values(tmp_path):
    """Comma-separated values, as of ogbn-arxiv."""
    write(tmp_path / "raw/edge.csv.gz", EDGES)
    write(tmp_path / "raw/node-feat.csv.gz", FEATURES)
    write(tmp_path / "raw/node-label.csv.gz", np.array([4, 0, 1, 1]))
    write_split(tmp_path)
    return tmp_path


@pytest.fixture
def arrays(tmp_path):
    """Arrays, as of ogbn-papers100M: most vertices have no label."""
    write_split(tmp_path)
    (tmp_path / "raw").mkdir()
    np.savez(tmp_path / "raw/data.npz", edge_index=EDGES.T, node_feat=FEATURES)
    np.savez(tmp_path / "raw/node-label.npz",
             node_label=np.array([[4.0], [0], [1], [1]], np.float32))
    return tmp_path


@pytest.mark.parametrize("kind", ["values", "arrays"])
def test_ogb(kind, request):
    folder = request.getfixturevalue(kind)
    graph = Graph.load(folder)
    dense = np.zeros((4, 4))
    dense[EDGES[:, 1], EDGES[:, 0]] = 1
    assert graph.edges.todense().tolist() == (dense + dense.T).tolist()
    assert Graph(**load_ogb(folder, directed=True)).edges.todense().tolist() == dense.tolist()
    np.testing.assert_array_equal(graph.features, FEATURES)
    assert graph.labels.tolist() == [4, 0, 1, 1]
    assert graph.splits.tolist() == [Split.TRAIN, Split.VALIDATION, Split.TRAIN, Split.TEST]


def test_labels_that_are_not_known(arrays):
    np.savez(arrays / "raw/node-label.npz", node_label=np.array([[0], [1], [1], [np.nan]]))
    with pytest.raises(DatasetError, match="vertex 3 of the test split has no label"):
        load_ogb(arrays)
    for name, members in {"train": [0], "test": [2]}.items():
        write(arrays / f"split/time/{name}.csv.gz", np.array(members))
    assert Graph.load(arrays).labels.tolist() == [0, 1, 1, -1]


def test_only_a_label_by_itself_is_none_where_it_is_no_number():
    """In a row of several, it is left for the check of labels to refuse."""
    nan = float("nan")
    for labels, expected in (([1, nan], [1, -1]), ([[nan], [2]], [[-1], [2]])):
        assert ogb._known_labels(np.array(labels)).tolist() == expected
    for labels in (np.array([[1, nan], [0, 1]]), np.array(["a", "b"]), np.array([[3], [1]])):
        assert ogb._known_labels(labels) is labels


def test_files_beside_the_folder_of_the_split(values):
    (values / "split" / "README.txt").write_text("by time")
    assert Graph.load(values).splits.tolist() == [
        Split.TRAIN, Split.VALIDATION, Split.TRAIN, Split.TEST]


def test_several_labels(values):
    write(values / "raw/node-label.csv.gz", np.array([[0, 1], [1, 1], [0, 0], [1, 0]]))
    graph = Graph.load(values)
    assert graph.multi_label
    assert graph.labels.astype(int).tolist() == [[0, 1], [1, 1], [0, 0], [1, 0]]


def test_empty_split(values, recwarn):
    write(values / "split/time/test.csv.gz", np.zeros(0))
    assert Graph.load(values).splits.tolist() == [1, 2, 1, 0]
    assert not recwarn.list


def test_no_features(values):
    (values / "raw/node-feat.csv.gz").unlink()
    with pytest.raises(DatasetError, match=r"no node-feat\.csv\.gz: the data set has no features"):
        load_ogb(values)


def test_several_splits(values):
    (values / "split/random").mkdir()
    with pytest.raises(DatasetError, match="has 2 folders, but one with the split is needed"):
        load_ogb(values)


@pytest.mark.parametrize("name", ["raw/edge.csv.gz", "raw/node-label.csv.gz",
                                  "split/time/valid.csv.gz"])
def test_missing_or_damaged_file(values, name):
    content = (values / name).read_bytes()
    (values / name).write_bytes(content[:-9])
    with pytest.raises(DatasetError, match=rf"{name} is damaged or not a table of numbers"):
        load_ogb(values)
    (values / name).unlink()
    with pytest.raises(DatasetError, match=rf"{name} does not exist; check the path"):
        load_ogb(values)


# --- Other tasks, and other ways to write them --------------------------------------------------


def text(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content.encode()))


def save_split_dict(path, splits):
    """As torch.save writes it: a pickle of protocol 2 in an archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("split_dict/data.pkl", pickle.dumps(splits, protocol=2))
        archive.writestr("split_dict/version", "3\n")


@pytest.fixture
def saved(tmp_path):
    """What DatasetSaver writes of a data set for node property prediction."""
    (tmp_path / "raw").mkdir()
    np.savez_compressed(tmp_path / "raw/data.npz", edge_index=EDGES.T, node_feat=FEATURES,
                        num_nodes_list=np.array([4]), num_edges_list=np.array([3]))
    np.savez_compressed(tmp_path / "raw/node-label.npz", node_label=np.array([[4], [0], [1], [1]]))
    save_split_dict(tmp_path / "split/random/split_dict.pt",
                    {name: np.array(members) for name, members in PARTS.items()})
    (tmp_path / "mapping").mkdir()
    (tmp_path / "mapping/README.md").write_text("none")
    (tmp_path / "RELEASE_v1.txt").write_text("1")
    return tmp_path


def test_what_dataset_saver_writes_is_read(saved):
    graph = Graph.load(saved)
    assert graph.labels.tolist() == [4, 0, 1, 1]
    assert graph.splits.tolist() == [Split.TRAIN, Split.VALIDATION, Split.TRAIN, Split.TEST]


@pytest.mark.parametrize(("splits", "message"), [
    ({"train": np.array([0]), "valid": np.array([1])}, "has train, valid, not just train, valid"),
    ({name: list(members) for name, members in PARTS.items()}, "'train' is no array"),
    ({name: {"paper": np.array([0])} for name in PARTS}, "'train' is no array"),
    ({name: np.array([0.5]) for name in PARTS}, "the train split is of shape"),
    ({name: collections.Counter() for name in PARTS}, r"asks for collections\.Counter"),
    ([1], "does not hold a dictionary of arrays"),
])
def test_splits_of_another_kind(saved, splits, message):
    save_split_dict(saved / "split/random/split_dict.pt", splits)
    with pytest.raises(DatasetError, match=rf"split_dict\.pt.*{message}"):
        Graph.load(saved)


def test_a_split_that_torch_wrote(saved):
    torch = pytest.importorskip("torch")
    path = saved / "split/random/split_dict.pt"
    torch.save({name: np.array(members) for name, members in PARTS.items()}, path)
    assert Graph.load(saved).splits.tolist() == [1, 2, 1, 3]
    torch.save({name: torch.tensor(members) for name, members in PARTS.items()}, path)
    with pytest.raises(DatasetError, match="holds tensors, but arrays of NumPy are expected"):
        Graph.load(saved)


def test_vertices_without_features(saved):
    np.savez(saved / "raw/data.npz", edge_index=EDGES.T, num_nodes_list=np.array([5]),
             node_feat=FEATURES)
    with pytest.raises(DatasetError, match=r"data\.npz has features of 4 vertices, but the graph "
                                           r"has 5"):
        Graph.load(saved)
    np.savez(saved / "raw/data.npz", edge_index=EDGES.T)
    with pytest.raises(DatasetError, match="has no node_feat: the data set has no features of"):
        Graph.load(saved)


#: Files of data sets of other tasks, and what is said of them.
OTHERS = {
    "ogbn-mag": ({
        "raw/num-node-dict.csv.gz": "author,paper\n3,4\n",
        "raw/triplet-type-list.csv.gz": "author,writes,paper\npaper,cites,paper\n",
        "raw/nodetype-has-feat.csv.gz": "author,paper\nFalse,True\n",
        "raw/nodetype-has-label.csv.gz": "author,paper\nFalse,True\n",
        "raw/node-feat/paper/node-feat.csv.gz": "1\n2\n3\n4\n",
        "raw/node-label/paper/node-label.csv.gz": "0\n1\n0\n1\n",
        "raw/relations/author___writes___paper/edge.csv.gz": "0,1\n",
        "raw/relations/paper___cites___paper/edge.csv.gz": "0,1\n",
        "split/time/nodetype-has-split.csv.gz": "author,paper\nFalse,True\n",
        "split/time/paper/train.csv.gz": "0\n"},
        "a heterogeneous graph of OGB.*give the edges of one kind, such as paper___cites___paper, "
        "and features and classes of paper by Graph.from_edges"),
    "heterogeneous, as arrays": ({"raw/edge_index_dict.npz": "", "raw/num_nodes_dict.npz": "",
                                  "split/time/split_dict.pt": ""}, "a heterogeneous graph of OGB"),
    "ogbl-collab": ({
        "raw/edge.csv.gz": "0,1\n", "raw/node-feat.csv.gz": "1\n2\n",
        "raw/num-node-list.csv.gz": "2\n", "raw/num-edge-list.csv.gz": "1\n",
        "raw/edge_weight.csv.gz": "1\n", "split/time/train.pt": "", "split/time/test.pt": ""},
        "for link property prediction of OGB: edges are to be predicted.*by Graph.from_edges"),
    "ogbl, as saved": ({"raw/edge.csv.gz": "0,1\n", "split/random/split_dict.pt": ""},
                       "for link property prediction of OGB"),
    "ogbg-molhiv": ({
        "raw/edge.csv.gz": "0,1\n0,1\n", "raw/node-feat.csv.gz": "1\n2\n1\n2\n",
        "raw/num-node-list.csv.gz": "2\n2\n", "raw/num-edge-list.csv.gz": "1\n1\n",
        "raw/graph-label.csv.gz": "0\n1\n", "split/scaffold/train.csv.gz": "0\n",
        "mapping/mol.csv.gz": "C\n"},
        "for graph property prediction of OGB, 2 graphs: a whole graph has a label"),
    "several graphs with labels of vertices": ({
        "raw/edge.csv.gz": "0,1\n0,1\n", "raw/node-feat.csv.gz": "1\n2\n1\n2\n",
        "raw/num-node-list.csv.gz": "2\n2\n", "raw/node-label.csv.gz": "0\n1\n0\n1\n",
        "split/random/train.csv.gz": "0\n"}, "2 graphs: a whole graph has a label"),
    "pcqm4m": ({"RELEASE_v1.txt": "", "raw/data.csv.gz": "idx,smiles\n", "split_dict.pt": ""},
               "of another task than node property prediction, or not whole"),
    "handed in": ({"meta_dict.pt": "", "tiny.zip": ""}, "unpack the .zip in it, and give the"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_tasks_say_what_they_are(tmp_path, name):
    files, message = OTHERS[name]
    for file, content in files.items():
        text(tmp_path / file, content)
    with pytest.raises(DatasetError, match=message) as caught:
        Graph.load(tmp_path)
    assert "download it again" not in str(caught.value)


def test_several_graphs_as_arrays(saved):
    np.savez(saved / "raw/data.npz", edge_index=EDGES.T, node_feat=FEATURES,
             num_nodes_list=np.array([2, 2]))
    with pytest.raises(DatasetError, match="for graph property prediction of OGB, 2 graphs"):
        Graph.load(saved)


@pytest.mark.parametrize("counts", [np.array([2]), np.array([4])])
def test_edges_are_as_many_as_is_said(saved, counts):
    np.savez_compressed(saved / "raw/data.npz", edge_index=EDGES.T, node_feat=FEATURES,
                        num_nodes_list=np.array([4]), num_edges_list=counts)
    with pytest.raises(DatasetError, match=rf"has 3 edges, but the graph has {counts[0]}; downl"):
        Graph.load(saved)


@pytest.mark.parametrize("name", ["num_nodes_list", "num_edges_list"])
def test_counts_that_are_none(saved, name):
    np.savez_compressed(saved / "raw/data.npz", edge_index=EDGES.T, node_feat=FEATURES,
                        **{name: np.array(["4"])})
    with pytest.raises(DatasetError, match=f"has {name} of type <U1, which is no count"):
        Graph.load(saved)
