# SPDX-License-Identifier: BSD-2-Clause
"""Small graphs in every format of files, written and read again in the plainest way.

Readers here trust their files, which were accepted before.
"""

import collections
import csv
import gzip
import json
import pickle
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.benches.fuzzing.reading import Reading, edges_of, entries_of, labels_of
from hypercast.reference.array_types import FloatArray, IntArray

__all__ = ["FORMATS", "draw_graph"]

_SPLITS = ("train", "validation", "test")


def draw_graph(random: Random) -> tuple[IntArray, FloatArray, IntArray, dict[str, list[int]]]:
    """Parts of a random graph: edges, features, labels (of one class each) and splits.

    Features are 0 and 1; at least one is 1, and the last vertex has a label.
    """
    vertices, classes = random.randint(6, 12), random.randint(2, 3)
    edges = np.array([[random.randrange(vertices) for _ in range(2)]
                      for _ in range(random.randint(1, 14))])
    width = random.randint(1, 5)
    features = np.array([[float(random.random() < 0.4) for _ in range(width)]
                         for _ in range(vertices)])
    for row in features:
        row[random.randrange(len(row))] = 1.0
    labels = np.array([vertex % classes for vertex in range(vertices)])
    order = random.sample(range(vertices), vertices)
    cuts = vertices // 3, 2 * vertices // 3
    splits = {name: sorted(part) for name, part in zip(
        _SPLITS, (order[:cuts[0]], order[cuts[0]:cuts[1]], order[cuts[1]:]), strict=True)}
    return edges, features, labels, splits


def _write_musae(folder: Path, random: Random, edges: IntArray, features: FloatArray,
                 labels: IntArray, splits: dict[str, list[int]]) -> Path:
    lines = [f"{source},{target}\n" for source, target in edges]
    names = ["id_1,id_2\n"] if random.random() < 0.7 else []
    (folder / "tiny_edges.csv").write_text("".join(names + lines), encoding="utf-8")
    rows = [f'{vertex},"Ä, {vertex}",{("a", "b", "c")[label]}\n'
            for vertex, label in enumerate(labels)]
    (folder / "tiny_target.csv").write_text("".join(["id,page_name,page_type\n", *rows]),
                                            encoding="utf-8")
    lists = {str(vertex): np.flatnonzero(row).tolist() for vertex, row in enumerate(features)}
    (folder / "tiny_features.json").write_text(json.dumps(lists), encoding="utf-8")
    return folder


def _read_musae(folder: Path) -> Reading:
    with (folder / "tiny_edges.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    if rows and not any(field.strip().lstrip("-").isdecimal() for field in rows[0]):
        rows = rows[1:]
    edges = [[int(field) for field in row] for row in rows]
    with (folder / "tiny_target.csv").open(encoding="utf-8-sig", newline="") as file:
        targets = [row for row in csv.DictReader(file, strict=True)]
    number = "new_id" if "new_id" in targets[0] else "id"
    name = next(name for name in ("page_type", "ml_target", "target", "mature")
                if name in targets[0])
    classes = {int(row[number]): row[name] for row in targets}
    texts = sorted(set(classes.values()))
    if all(text.lstrip("-").isdecimal() and str(int(text)) == text for text in texts):
        texts.sort(key=int)
    vertices = max(classes) + 1
    lists = json.loads((folder / "tiny_features.json").read_text(encoding="utf-8-sig"))
    features = {(int(vertex), one): 1.0 for vertex, ones in lists.items() for one in ones}
    return Reading((vertices, 1 + max(one for _, one in features)), features, edges_of(edges), [
        texts.index(classes[vertex]) if vertex in classes else -1 for vertex in range(vertices)],
        None)


def _matrix(random: Random, edges: IntArray, vertices: int) -> scipy.sparse.csr_matrix:
    """Matrix of the edges, both ways; every edge once."""
    matrix = scipy.sparse.csr_matrix((vertices, vertices), dtype=random.choice((bool, np.float32)))
    matrix = matrix.tolil()
    for source, target in edges:
        matrix[source, target] = matrix[target, source] = 1
    return matrix.tocsr()


def _write_saint(folder: Path, random: Random, edges: IntArray, features: FloatArray,
                 labels: IntArray, splits: dict[str, list[int]]) -> Path:
    matrix = _matrix(random, edges, len(labels))
    scipy.sparse.save_npz(folder / "adj_full.npz", matrix, compressed=random.random() < 0.5)
    np.save(folder / "feats.npy", features.astype(random.choice(("f4", "f8", "i4"))))
    several = random.random() < 0.5
    (folder / "class_map.json").write_text(json.dumps({
        str(vertex): [int(label == one) for one in range(3)] if several else int(label)
        for vertex, label in enumerate(labels)}), encoding="utf-8")
    (folder / "role.json").write_text(json.dumps(dict(zip(
        ("tr", "va", "te"), splits.values(), strict=True))), encoding="utf-8")
    return folder


def _pattern(indices: IntArray, starts: IntArray,
             shape: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(row, column) of each entry of a sparse matrix."""
    rows = np.repeat(np.arange(shape[0]), np.diff(starts))
    return zip(rows.tolist(), indices.tolist(), strict=True)


def _read_saint(folder: Path) -> Reading:
    with np.load(folder / "adj_full.npz") as parts:
        edges = edges_of(_pattern(*(parts[name] for name in ("indices", "indptr", "shape"))))
    features = np.load(folder / "feats.npy")
    classes = json.loads((folder / "class_map.json").read_text(encoding="utf-8-sig"))
    roles = json.loads((folder / "role.json").read_text(encoding="utf-8-sig"))
    labels = labels_of(np.array([classes[str(vertex)] for vertex in range(len(features))]))
    return Reading(features.shape, entries_of(features), edges, labels, {
        name: sorted(roles[role]) for name, role in zip(_SPLITS, ("tr", "va", "te"), strict=True)})


def _write_table(path: Path, rows: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(",".join(f"{value:.7g}" for value in np.atleast_1d(row)) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()))


def _read_table(path: Path, kind: Callable[[str], Any]) -> list[list[Any]]:
    text = gzip.decompress(path.read_bytes()).decode("utf-8-sig")
    return [[kind(field) for field in line.split(",")] for line in text.splitlines() if line]


def _write_ogb(folder: Path, random: Random, edges: IntArray, features: FloatArray,
               labels: IntArray, splits: dict[str, list[int]]) -> Path:
    for name, members in zip(("train", "valid", "test"), splits.values(), strict=True):
        _write_table(folder / "split" / "time" / f"{name}.csv.gz", members)
    if random.random() < 0.5:
        _write_table(folder / "raw" / "edge.csv.gz", edges)
        _write_table(folder / "raw" / "node-feat.csv.gz", features)
        _write_table(folder / "raw" / "node-label.csv.gz", labels)
        if random.random() < 0.5:
            _write_table(folder / "raw" / "num-node-list.csv.gz", [len(labels)])
        return folder
    (folder / "raw").mkdir()
    counts: dict[str, Any] = {}
    if random.random() < 0.5:
        counts["num_nodes_list"] = np.array([len(labels)])
    np.savez(folder / "raw" / "data.npz", edge_index=edges.T,
             node_feat=features.astype(np.float32), **counts)
    if random.random() < 0.5:  # as DatasetSaver has them
        shutil.rmtree(folder / "split" / "time")
        (folder / "split" / "time").mkdir()
        with zipfile.ZipFile(folder / "split" / "time" / "split_dict.pt", "w") as archive:
            archive.writestr("split_dict/data.pkl", pickle.dumps({
                name: np.array(members) for name, members in zip(
                    ("train", "valid", "test"), splits.values(), strict=True)}, protocol=2))
    np.savez(folder / "raw" / "node-label.npz", node_label=labels[:, None].astype(np.float32))
    return folder


def _read_ogb(folder: Path) -> Reading:
    if (folder / "raw" / "data.npz").exists():
        with np.load(folder / "raw" / "data.npz") as arrays:
            edges, features = arrays["edge_index"].T, arrays["node_feat"]
        with np.load(folder / "raw" / "node-label.npz") as arrays:
            labels = arrays["node_label"]
    else:
        edges = _read_table(folder / "raw" / "edge.csv.gz", int)
        features = np.array(_read_table(folder / "raw" / "node-feat.csv.gz", np.float32))
        labels = np.array(_read_table(folder / "raw" / "node-label.csv.gz", float))
    if labels.ndim == 1 or labels.shape[1] == 1:
        labels = np.where(np.isnan(labels), -1, labels)
    names, place = ("train", "valid", "test"), folder / "split" / "time"
    if (place / "split_dict.pt").exists():  # accepted, so that nothing in it is executed
        with zipfile.ZipFile(place / "split_dict.pt") as archive:
            [pickled] = (one for one in archive.namelist() if one.endswith("/data.pkl"))
            held = pickle.loads(archive.read(pickled), encoding="latin1")
        members = [sorted((np.flatnonzero(held[file]) if held[file].dtype == bool
                           else held[file]).tolist()) for file in names]
    else:
        members = [sorted(number for [number] in _read_table(place / f"{file}.csv.gz", int))
                   for file in names]
    return Reading(features.shape, entries_of(features), edges_of(edges), labels_of(labels),
                   dict(zip(_SPLITS, members, strict=True)))


def _write_npz(folder: Path, random: Random, edges: IntArray, features: FloatArray,
               labels: IntArray, splits: dict[str, list[int]]) -> Path:
    path = folder / "tiny.npz"
    parts: dict[str, Any] = {"labels": labels}
    for name, matrix in (("adj", _matrix(random, edges, len(labels))),
                         ("attr", scipy.sparse.csr_matrix(features))):
        parts |= {f"{name}_{part}": getattr(matrix, part)
                  for part in ("data", "indices", "indptr", "shape")}
    np.savez(path, **parts)
    return path


def _read_npz(path: Path) -> Reading:
    with np.load(path) as arrays:
        edges = edges_of(_pattern(*(arrays[f"adj_{part}"]
                                    for part in ("indices", "indptr", "shape"))))
        data, indices, starts, shape = (
            arrays[f"attr_{part}"] for part in ("data", "indices", "indptr", "shape"))
        features: dict[tuple[int, int], float] = collections.defaultdict(float)
        for place, value in zip(_pattern(indices, starts, shape), data.tolist(), strict=True):
            features[place] += value
        return Reading(tuple(shape.tolist()), {place: value for place, value in features.items()
                                               if value}, edges, labels_of(arrays["labels"]), None)


def _write_edge_list(folder: Path, random: Random, edges: IntArray, features: FloatArray,
                     labels: IntArray, splits: dict[str, list[int]]) -> Path:
    path = folder / "tiny.npz"
    if random.random() < 0.3:
        labels = np.stack([labels == one for one in range(3)], axis=1)
    np.savez(path, edges=edges, features=features, labels=labels, train=splits["train"],
             validation=splits["validation"], test=splits["test"])
    return path


def _read_edge_list(path: Path) -> Reading:
    with np.load(path) as arrays:
        features = arrays["features"]
        labels = arrays["labels" if "labels" in arrays else "target"]
        splits = {name: sorted(
            (np.flatnonzero(part) if part.dtype == bool else part).tolist()) for name in _SPLITS
            for part in [arrays[name] if name in arrays else np.zeros(0)]}
        return Reading(features.shape, entries_of(features), edges_of(arrays["edges"]),
                       labels_of(labels), splits if "train" in arrays else None)


def _write_planetoid(folder: Path, random: Random, edges: IntArray, features: FloatArray,
                     labels: IntArray, splits: dict[str, list[int]]) -> Path:
    first = len(labels) - 3
    test = random.sample(range(first, len(labels)), 3)
    train = random.randint(1, 3)
    onehot = np.eye(3, dtype=np.int32)[labels]
    graph = collections.defaultdict(list)
    for source, target in edges.tolist():
        graph[source].append(target)
    parts: dict[str, Any] = {"graph": graph}
    for prefix, members in (("", range(train)), ("all", range(first)), ("t", test)):
        parts[f"{prefix}x"] = scipy.sparse.csr_matrix(features[list(members)].astype(np.float32))
        parts[f"{prefix}y"] = onehot[list(members)]
    for name, part in parts.items():
        content = pickle.dumps(part, protocol=2)
        if random.random() < 0.5:  # the modules' names of that time
            content = content.replace(b"numpy._core.", b"numpy.core.").replace(
                b"scipy.sparse._csr", b"scipy.sparse.csr")
        (folder / f"ind.tiny.{name}").write_bytes(content)
    (folder / "ind.tiny.test.index").write_text("".join(f"{vertex}\n" for vertex in test),
                                                encoding="utf-8")
    return folder


def _read_planetoid(folder: Path) -> Reading:
    """Read a pickle that was accepted before, so that there is nothing in it to execute."""
    parts = {}
    for name in ("x", "y", "tx", "ty", "allx", "ally", "graph"):
        content = (folder / f"ind.tiny.{name}").read_bytes()
        content = content.replace(b"scipy.sparse.csr\n", b"scipy.sparse._csr\n")
        parts[name] = pickle.loads(content, encoding="latin1")
    test = [int(line) for line in (folder / "ind.tiny.test.index").read_bytes().split()]
    known = parts["allx"].shape[0]
    numbers = [*range(known), *test]
    vertices = max([known, *(vertex + 1 for vertex in test)])
    labels = [-1] * vertices
    for vertex, row in zip(numbers, [*parts["ally"], *parts["ty"]], strict=True):
        labels[vertex] = int(np.argmax(row)) if np.any(row) else -1
    features = {}
    for matrix, members in ((parts["allx"], range(known)), (parts["tx"], test)):
        for (row, column), value in entries_of(matrix).items():
            features[members[row], column] = value
    train = len(parts["y"])
    splits = {"train": range(train), "validation": range(train, min(train + 500, known)),
              "test": test}
    edges = [(source, target) for source, targets in parts["graph"].items() for target in targets]
    return Reading((vertices, parts["allx"].shape[1]), features, edges_of(edges), labels, {
        name: sorted(vertex for vertex in members if labels[vertex] >= 0)
        for name, members in splits.items()})


#: Format to its writer, which writes a graph into a folder and returns the path of the data set,
#: and to its reader.
FORMATS = {
    "MUSAE": (_write_musae, _read_musae), "GraphSAINT": (_write_saint, _read_saint),
    "OGB": (_write_ogb, _read_ogb), "gnn-benchmark": (_write_npz, _read_npz),
    "edge list": (_write_edge_list, _read_edge_list),
    "Planetoid": (_write_planetoid, _read_planetoid)}
