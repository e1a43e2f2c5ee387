# SPDX-License-Identifier: BSD-2-Clause
import collections
import os
import pickle
import zlib

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.graphs.datasets import (
    DatasetError,
    blocks,
    communities,
    load_npz,
    load_planetoid,
    split_per_class,
)
from hypercast.host.graphs.graph import Graph
from hypercast.rtl.isa import Split

# --- Bundled ------------------------------------------------------------------------------------


def test_karate():
    graph = Graph.load("karate")
    assert (graph.vertices, graph.edges.nnz, graph.classes) == (34, 2 * 78, 2)
    degrees = np.diff(graph.edges.indptr)
    leaders = [np.flatnonzero(graph.labels == faction)[
        np.argmax(degrees[graph.labels == faction])] for faction in range(2)]
    assert leaders == [0, 33] and (graph.splits[leaders] == Split.TRAIN).all()
    assert np.bincount(graph.splits).tolist() == [0, 4, 8, 22]
    for split in Split(1), Split(2):
        labels = graph.labels[graph.splits == split]
        assert np.bincount(labels).tolist() == [len(labels) // 2] * 2
    # Another member would be another training: what is noted of it is of these.
    assert np.flatnonzero(graph.splits == Split.TRAIN).tolist() == [0, 4, 24, 33]
    assert np.flatnonzero(graph.splits == Split.VALIDATION).tolist() == [
        2, 6, 10, 12, 14, 20, 26, 28]


def test_communities():
    graph = Graph(**communities(degree=16.0, share=0.3))
    assert graph.multi_label and graph.classes == 5
    assert abs(graph.labels.mean() - 0.3) < 0.05
    assert abs(graph.edges.nnz / graph.vertices - 16) < 2
    shared = (graph.labels.astype(int) @ graph.labels.T)
    targets, sources = graph.edges.tocoo().coords
    assert shared[targets, sources].mean() > 1.5 * shared.mean()
    assert [np.count_nonzero(graph.splits == split) for split in (1, 2, 3)] == [205, 102, 205]
    assert (communities(seed=1)["labels"] != graph.labels).any()
    assert not communities(vertices=20, share=0.0)["labels"].any()


def test_blocks():
    graph = Graph.load("blocks")
    assert (graph.vertices, graph.classes, graph.features.shape) == (256, 4, (256, 32))
    edges = graph.edges.tocoo()
    # 256 * 8 / 2 edges expected: five standard deviations of a Poisson variable.
    assert abs(graph.edges.nnz / 2 - 1024) < 5 * 32
    same = np.mean(graph.labels[edges.row] == graph.labels[edges.col])
    assert abs(same - 0.75) < 0.1
    own = graph.labels[:, None] == np.arange(32) % 4
    assert graph.features[own].mean() > 2 * graph.features[~own].mean()
    assert np.bincount(graph.splits).tolist() == [0, 32, 32, 192]


def test_blocks_depend_on_the_seed_only():
    one, same, other = (Graph(**blocks(seed=seed)) for seed in (3, 3, 4))
    assert (one.edges != same.edges).nnz == 0
    assert np.array_equal(one.features, same.features)
    assert (one.edges != other.edges).nnz > 0


def test_blocks_of_other_sizes():
    graph = Graph(**blocks(vertices=50, classes=3, features=7, degree=4.0))
    assert (graph.vertices, graph.classes, graph.features.shape) == (50, 3, (50, 7))
    assert Graph(**blocks(vertices=20, classes=1)).classes == 1


def fingerprint(arguments):
    """Checksum of all of a graph but how it is stored."""
    graph = Graph(**arguments)
    edges = graph.edges.tocoo()
    features = graph.features.toarray() if scipy.sparse.issparse(graph.features) \
        else graph.features
    return zlib.crc32(b"".join(np.ascontiguousarray(values).astype("<i8").tobytes() for values in (
        edges.row, edges.col, edges.data, features, graph.labels, graph.splits)))


@pytest.mark.parametrize(("make", "given", "expected"), [
    (blocks, {}, 948512228),
    (blocks, {"vertices": 50, "classes": 3, "features": 7, "degree": 4.0, "mixing": 0.5,
              "noise": 0.2, "seed": 9}, 3118027208),
    (blocks, {"vertices": 3, "classes": 5}, 3729526279),
    (blocks, {"vertices": 20, "classes": 1}, 3819800720),
    (communities, {}, 3529479369),
    (communities, {"vertices": 60, "classes": 3, "features": 8, "degree": 6.0, "share": 0.5,
                   "mixing": 0.6, "noise": 0.2, "seed": 9}, 2352416845),
    (communities, {"vertices": 20, "share": 0.0}, 1855578297)])
def test_bundled_graphs_stay_as_they_are(make, given, expected):
    """What is noted of trainings on them is of these."""
    assert fingerprint(make(**given)) == expected


def test_split_per_class():
    labels = np.array([0] * 30 + [1] * 3 + [-1] * 5)
    parts = split_per_class(labels, train=4, validation=6, seed=0)
    counts = {name: np.bincount(labels[part], minlength=2).tolist()
              for name, part in parts.items()}
    assert counts == {"train": [4, 2], "validation": [6, 0], "test": [20, 1]}
    assert len(np.unique(np.concatenate(list(parts.values())))) == 33


# --- Planetoid ----------------------------------------------------------------------------------

#: Vertices 0 to 5 in allx, 6 to 9 in the test range, of which 8 is left out.
TEST = (9, 6, 7)
LABELS = (0, 1, 0, 1, 1, 0, 1, 0, None, 0)


def features_of(vertex):
    return np.eye(4)[vertex % 4] * (vertex + 1)


def rows(vertices):
    features = np.array([features_of(vertex) for vertex in vertices], dtype=np.float32)
    labels = np.array([np.eye(2, dtype=np.int32)[LABELS[vertex]] for vertex in vertices])
    return scipy.sparse.csr_matrix(features), labels


def write(folder, part, content, name="tiny"):
    """Write a file as Python 2 would have: protocol 2, and the modules' names of that time."""
    if not isinstance(content, bytes):
        content = pickle.dumps(content, protocol=2)
        content = content.replace(b"numpy._core.", b"numpy.core.").replace(
            b"scipy.sparse._csr", b"scipy.sparse.csr")
    (folder / f"ind.{name}.{part}").write_bytes(content)


@pytest.fixture
def folder(tmp_path):
    for prefix, vertices in (("", range(2)), ("all", range(6)), ("t", TEST)):
        features, labels = rows(vertices)
        write(tmp_path, f"{prefix}x", features)
        write(tmp_path, f"{prefix}y", labels)
    graph = collections.defaultdict(list)
    graph |= {0: [1, 2, 2], 1: [0], 9: [9, 5], 8: [7]}
    write(tmp_path, "graph", graph)
    write(tmp_path, "test.index", b"9\n6\n7\n")
    return tmp_path


def test_planetoid(folder):
    graph = Graph.load(folder)
    assert graph.labels.tolist() == [-1 if label is None else label for label in LABELS]
    expected = [features_of(vertex) * (vertex != 8) for vertex in range(10)]
    assert graph.features.todense().tolist() == np.array(expected).tolist()
    assert graph.splits.tolist() == [1, 1, 2, 2, 2, 2, 3, 3, 0, 3]
    pairs = {tuple(sorted(pair)) for pair in np.argwhere(graph.edges.todense()).tolist()}
    assert pairs == {(0, 1), (0, 2), (9, 9), (5, 9), (7, 8)}


def test_planetoid_label_row_of_zeros_is_no_label(folder):
    labels = rows(range(6))[1]
    labels[5] = 0
    write(folder, "ally", labels)
    graph = Graph.load(folder)
    assert graph.labels.tolist() == [0, 1, 0, 1, 1, -1, 1, 0, -1, 0]
    assert graph.splits.tolist() == [1, 1, 2, 2, 2, 0, 3, 3, 0, 3]


def test_planetoid_missing_file(folder):
    (folder / "ind.tiny.tx").unlink()
    with pytest.raises(DatasetError, match=r"ind\.tiny\.tx does not exist; .*download it again"):
        load_planetoid(folder)


@pytest.mark.parametrize("part", ["x", "ty", "allx", "graph"])
def test_planetoid_truncated_file(folder, part):
    path = folder / f"ind.tiny.{part}"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DatasetError, match=rf"ind\.tiny\.{part} is truncated or damaged"):
        load_planetoid(folder)


def test_planetoid_executes_nothing(folder):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(folder / "evil"),)

    write(folder, "graph", Evil())
    with pytest.raises(DatasetError, match=r"asks for posix\.mkdir, which no data set needs"):
        load_planetoid(folder)
    assert not (folder / "evil").exists()


def test_planetoid_checks_indices(folder):
    features = rows(range(6))[0]
    features.indices[0] = 1_000_000
    write(folder, "allx", features)
    with pytest.raises(DatasetError, match=r"ind\.tiny\.allx: index 0 is 1000000, but columns"):
        load_planetoid(folder)


@pytest.mark.parametrize(("part", "content", "message"), [
    ("ally", rows(range(5))[1], r"allx is of 6 vertices, but \S+ally of 5"),
    ("ally", rows(range(6))[1] * 2, "labels that are not rows of 0 and 1"),
    ("ally", np.ones((6, 2), dtype=np.int32), "row 0 has 2 classes, but a vertex has one"),
    ("ty", np.zeros((3, 3)), r"ty has 3 columns, but \S+ally 2"),
    ("test.index", b"", r"tx is of 3 vertices, but \S+test\.index of 0"),
    ("y", rows([1, 0])[1], r"y is not the beginning of"),
    ("x", rows([0, 2])[0], r"x is not the beginning of \S+allx"),
    ("test.index", b"9\n6\n", r"tx is of 3 vertices, but \S+test\.index of 2"),
    ("test.index", b"9\n6\n6\n", "a number twice"),
    ("test.index", b"9\n6\n5\n", "one that allx has, too"),
    ("test.index", b"99999999999\n6\n7\n", "leaving most vertices out"),
    ("test.index", b"nine\n6\n7\n", "'nine' is no whole number"),
    ("test.index", b"9\n6\n" + b"9" * 30, "'9{30}' is no whole number"),
    ("test.index", b"9.0\n6\n7\n", "'9.0' is no whole number"),
    ("graph", {0: [12]}, "vertex 12|from vertex 0 to 12"),
    ("graph", {0: [1.0]}, "vertex 0: 1.0 is no whole number"),
    ("graph", [1, 2], "does not hold a dictionary of lists"),
    ("allx", [1, 2], "does not hold a CSR matrix"),
])
def test_planetoid_contradictions(folder, part, content, message):
    write(folder, part, content)
    with pytest.raises(DatasetError, match=message):
        load_planetoid(folder)


@pytest.mark.parametrize(("known", "validation"), [(501, 499), (502, 500), (503, 500)])
def test_planetoid_validates_on_the_next_500(folder, known, validation):
    features = scipy.sparse.csr_matrix(np.ones((known, 4), np.float32))
    labels = np.eye(2, dtype=np.int32)[np.arange(known) % 2]
    for part, content in (("allx", features), ("ally", labels), ("x", features[:2]),
                          ("y", labels[:2])):
        write(folder, part, content)
    write(folder, "test.index", f"{known + 2}\n{known}\n{known + 1}\n".encode())
    splits = Graph(**load_planetoid(folder)).splits
    assert np.flatnonzero(splits == Split.VALIDATION).tolist() == [*range(2, 2 + validation)]
    assert np.flatnonzero(splits == Split.TRAIN).tolist() == [0, 1]
    assert np.flatnonzero(splits == Split.TEST).tolist() == [known, known + 1, known + 2]


@pytest.mark.parametrize(("last", "fits"), [(17, True), (18, False)])
def test_planetoid_leaves_out_less_than_half(folder, last, fits):
    """At most as many vertices as the 6 and 3 with data have neither features nor label."""
    write(folder, "test.index", f"{last}\n6\n7\n".encode())
    if fits:
        assert Graph(**load_planetoid(folder)).vertices == 18
    else:
        with pytest.raises(DatasetError, match="reaches to 18, leaving most vertices out"):
            load_planetoid(folder)


def test_planetoid_checksum(folder):
    for path in folder.iterdir():
        path.rename(path.with_name(path.name.replace("tiny", "cora")))
    with pytest.raises(DatasetError, match=r"ind\.cora\.x is not the original: SHA-256 should be "
                                           r"23cfa55d.*load with verify=False"):
        load_planetoid(folder)
    assert Graph(**load_planetoid(folder, verify=False)).vertices == 10


def test_planetoid_name(folder):
    write(folder, "graph", {}, name="other")
    with pytest.raises(DatasetError, match=r"several data sets \(other, tiny\); give a name"):
        load_planetoid(folder)
    assert Graph(**load_planetoid(folder, name="tiny")).vertices == 10


def test_planetoid_name_with_a_point(folder):
    for path in folder.iterdir():
        path.rename(path.with_name(path.name.replace("tiny", "tiny.0.01")))
    assert Graph.load(folder).vertices == 10


def test_planetoid_nothing_there(tmp_path):
    with pytest.raises(DatasetError, match=r"no file ind\.NAME\.graph"):
        load_planetoid(tmp_path)


# --- npz ----------------------------------------------------------------------------------------


def npz_parts():
    adjacency = scipy.sparse.csr_array(np.eye(12, k=1))
    features = scipy.sparse.csr_array(np.eye(12, 5, dtype=np.float32))
    parts = {"labels": np.array([0, 1, 2] * 4, dtype=np.int8), "names": np.array(["a", "b"])}
    for prefix, matrix in (("adj", adjacency), ("attr", features)):
        for part in ("data", "indices", "indptr", "shape"):
            parts[f"{prefix}_{part}"] = getattr(matrix, part)
    return parts


def test_npz(tmp_path):
    path = tmp_path / "tiny.npz"
    np.savez(path, **npz_parts())
    graph = Graph(**load_npz(path, train=1, validation=1))
    assert np.array_equal(graph.edges.todense(), np.eye(12, k=1) + np.eye(12, k=-1))
    assert graph.features.shape == (12, 5)
    assert np.bincount(graph.splits).tolist() == [0, 3, 3, 6]


@pytest.mark.parametrize(("change", "message"), [
    ({"labels": np.array([{}])}, "array labels, is of type object"),  # pickled
    ({"adj_indices": np.full(11, 99)}, r"adj_\*: index 0 is 99"),
    ({"adj_data": np.array([1.0] * 3 + [0.0] + [1.0] * 7)},
     r"adj_\*: the entry of row 3 and column 4 is 0.0, so there is an edge or none"),
    ({"adj_data": np.array([1.0] * 10 + [np.nan])},
     r"adj_\*: the entry of row 10 and column 11 is nan"),
    ({"adj_indptr": np.arange(3)}, r"adj_\*: there are 3 index pointers"),
])
def test_npz_damaged(tmp_path, change, message):
    path = tmp_path / "tiny.npz"
    np.savez(path, **npz_parts() | change)
    with pytest.raises(DatasetError, match=rf"tiny\.npz, {message}"):
        load_npz(path)


@pytest.mark.parametrize(("change", "reason"), [
    ({"labels": np.array([0, 1])}, r"shape \(12, 12\), but there are 2 labels"),
    ({"labels": np.full(12, 0.5)}, r"label of vertex 0 is 0\.5, but classes are whole numbers"),
    ({"labels": np.eye(12, 3)}, "are not a class per vertex; use random_split"),
    ({"attr_data": np.full(5, np.nan)}, "feature 0 of vertex 0 is nan; replace it by a number$"),
])
def test_npz_that_is_no_graph_is_not_called_damaged(tmp_path, change, reason):
    path = tmp_path / "tiny.npz"
    np.savez(path, **npz_parts() | change)
    with pytest.raises(DatasetError, match=rf"can be read, but not trained on: .*{reason}"):
        load_npz(path)


def test_npz_truncated(tmp_path):
    path = tmp_path / "tiny.npz"
    np.savez(path, **npz_parts())
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(DatasetError, match=r"tiny\.npz is damaged"):
        load_npz(path)


def test_npz_of_another_layout(tmp_path):
    np.savez(tmp_path / "tiny.npz", a=np.arange(3))
    with pytest.raises(DatasetError, match="adj_data"):
        load_npz(tmp_path / "tiny.npz")


def test_npz_missing(tmp_path):
    with pytest.raises(DatasetError, match=r"none\.npz does not exist; check the path"):
        load_npz(tmp_path / "none.npz")


# --- By name ------------------------------------------------------------------------------------


def test_load(folder):
    np.savez(folder / "tiny.npz", **npz_parts())
    assert Graph.load("karate").vertices == 34
    assert Graph.load("blocks").vertices == 256
    assert Graph.load(str(folder)).vertices == 10
    assert Graph.load(folder / "tiny.npz").vertices == 12


def test_load_nothing(tmp_path):
    with pytest.raises(DatasetError, match=r"bundled data set \(karate, blocks, communities\)"):
        Graph.load(tmp_path / "none")
