# SPDX-License-Identifier: BSD-2-Clause
"""Data sets are told apart by what they hold."""

import sys

import numpy as np
import pytest

from hypercast.host.graphs.datasets import DatasetError
from hypercast.host.graphs.graph import Graph
from tests.host.graphs.datasets.test_musae import write as write_musae
from tests.host.graphs.datasets.test_ogb import values  # noqa: F401 - a fixture
from tests.host.graphs.datasets.test_saint import saint  # noqa: F401 - a fixture
from tests.host.graphs.test_datasets import folder, npz_parts  # noqa: F401 - folder is a fixture

ARRAYS = {"edges": np.array([[0, 1], [1, 2]]), "features": np.eye(3), "labels": np.array([0, 1, 1])}


def test_planetoid_folder(folder):  # noqa: F811
    assert Graph.load(folder).vertices == 10


def test_saint(saint):  # noqa: F811
    assert Graph.load(saint).vertices == 4


def test_ogb_folder(values):  # noqa: F811
    assert Graph.load(values).vertices == 4


def test_musae_folder(tmp_path):
    write_musae(tmp_path)
    assert Graph.load(tmp_path).vertices == 4


@pytest.mark.parametrize("inside", [False, True])
def test_archives(tmp_path, inside):
    path = tmp_path / "data.npz"
    np.savez(path, **npz_parts())
    assert Graph.load(tmp_path if inside else path).vertices == 12
    np.savez(path, **ARRAYS)
    assert Graph.load(tmp_path if inside else path).vertices == 3


def test_edge_lists(tmp_path):
    path = tmp_path / "data.npz"
    splits = {"train": np.array([2]), "test": np.array([True, False, False])}
    np.savez(path, **ARRAYS, **splits)
    graph = Graph.load(path)
    assert graph.edges.todense().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.splits.tolist() == [3, 0, 1]
    np.savez(path, edges=ARRAYS["edges"], features=ARRAYS["features"], target=ARRAYS["labels"])
    assert sorted(Graph.load(path).splits.tolist()) == [1, 1, 3]
    np.savez(path, **ARRAYS | {"edges": np.array([[0, 7]])})
    with pytest.raises(DatasetError, match=r"can be read, but not trained on: edge .*0 to 7"):
        Graph.load(path)


@pytest.mark.parametrize(("names", "message"), [
    (["validation"], "has splits validation; name them train"),
    (["train", "val_mask"], "has splits train, val_mask; name them train"),
])
def test_no_split_of_another_name_is_ignored(tmp_path, names, message):
    path = tmp_path / "data.npz"
    np.savez(path, **ARRAYS, **{name: np.array([index]) for index, name in enumerate(names)})
    with pytest.raises(DatasetError, match=message):
        Graph.load(path)


def test_an_edge_list_has_weights_and_nothing_that_is_not_known(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, **ARRAYS, weights=np.array([0.5, 2.0]))
    assert Graph.load(path).edges.todense().tolist() == [[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]]
    for name in ("directed", "mask", "split", "weight"):
        np.savez(path, **ARRAYS, **{name: np.array([1, 1])})
        with pytest.raises(DatasetError, match=f"has an array {name}, which means nothing here"):
            Graph.load(path)


def test_edge_list_without_labels(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, edges=ARRAYS["edges"], features=ARRAYS["features"])
    with pytest.raises(DatasetError, match="arrays edges, features, but no labels; give"):
        Graph.load(path)


def test_folder_of_data_sets(tmp_path):
    for name in ("DE", "EN"):
        (tmp_path / name).mkdir()
        write_musae(tmp_path / name)
    with pytest.raises(DatasetError, match=r"give one of them: \S+/DE, \S+/EN$"):
        Graph.load(tmp_path)


@pytest.mark.parametrize("content", [None, b"", b"nothing", "folder"])
def test_unknown(tmp_path, content):
    path = tmp_path / "data.npz"
    if content == "folder":
        path.mkdir()
        (path / "notes.txt").write_text("nothing")
    elif content is not None:
        path.write_bytes(content)
    message = r"no data set that is understood; give one of: Planetoid.*GraphSAINT.*OGB.*MUSAE"
    if content is None:
        message = (r"data set \(karate, blocks, communities\) nor a file or folder that exists; "
                   r"check the path")
    with pytest.raises(DatasetError, match=message):
        Graph.load(path)


def test_pyg_file_without_pyg(tmp_path, monkeypatch):
    (tmp_path / "data.pt").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(DatasetError, match="torch is not installed; `pip install torch "):
        Graph.load(tmp_path / "data.pt")


@pytest.mark.parametrize("collated", [False, True])
def test_pyg_file(tmp_path, collated):
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    data = pyg.Data(x=torch.eye(3), y=torch.tensor([0, 1, 1]),
                    edge_index=torch.tensor([[0, 1], [1, 2]]))
    path = tmp_path / "data.pt"
    torch.save((data.to_dict(), None, {}, pyg.Data) if collated else data, path)
    graph = Graph.load(path)
    assert graph.edges.todense().tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert sorted(graph.splits.tolist()) == [1, 1, 3]
    data.val_mask = torch.tensor([True, False, False])
    torch.save(data, path)
    with pytest.raises(DatasetError, match="has val_mask, but no train_mask, which says what to"):
        Graph.load(path)
    data.train_mask = torch.tensor([False, True, False])
    data.edge_weight = torch.tensor([2.0, 3.0])
    torch.save(data, path)
    graph = Graph.load(path)
    assert graph.splits.tolist() == [2, 1, 0]
    assert graph.edges.todense().tolist() == [[0, 0, 0], [2, 0, 0], [0, 3, 0]]
    torch.save((data.to_dict(), {"x": torch.tensor([0, 1, 3])}, {}, pyg.Data), path)
    with pytest.raises(DatasetError, match="holds several graphs"):
        Graph.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(DatasetError, match="damaged or not a file of PyTorch; make it again"):
        Graph.load(path)


def test_pyg_files_of_anything_else(tmp_path):
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    path = tmp_path / "data.pt"
    hetero = pyg.HeteroData()
    hetero["paper"].x = torch.eye(3)
    hetero["paper", "cites", "paper"].edge_index = torch.tensor([[0], [1]])
    for value, message in (
            (hetero, r"holds a HeteroData; torch\.save a Data .*to_homogeneous"),
            (pyg.TemporalData(src=torch.tensor([0])), "holds a TemporalData"),
            (torch.eye(3), "holds a Tensor; torch.save a Data with x, y and edge_index"),
            ([1, 2], "holds a list; torch.save a Data"),
            (torch.nn.Linear(1, 1), r"holds a torch\.nn\S+Linear, which is not taken from files"),
            (pyg.Data(x=torch.eye(3)), "has no y"),
            ({"x": torch.eye(3)}, "has no y")):
        torch.save(value, path)
        with pytest.raises(DatasetError, match=message) as caught:
            Graph.load(path)
        assert "weights_only" not in str(caught.value)
