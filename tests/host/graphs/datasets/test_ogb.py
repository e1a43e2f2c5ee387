import gzip

import numpy as np
import pytest

from hypercast.host.graphs.datasets import DatasetError, load_ogb
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
