"""MUSAE's attributed social graphs: Facebook pages, GitHub, Twitch, LastFM, Deezer.

(Rozemberczki, Allen and Sarkar, Multi-Scale Attributed Node Embedding, 2021.)
"""

import csv
import json
from pathlib import Path

import numpy as np
import scipy.sparse

from hypercast.host.datasets.error import DatasetError, reading
from hypercast.host.datasets.splits import random_split
from hypercast.host.graph import Graph

__all__ = ["load_musae"]

_ORIGIN = "https://github.com/benedekrozemberczki/MUSAE or https://snap.stanford.edu/data"
#: Columns that hold a vertex's number and its class; the first that is there is taken. Twitch's
#: ``id`` is the user's, and its graph has numbers of its own.
_NUMBERS = ("new_id", "id")
_CLASSES = ("page_type", "ml_target", "target", "mature")
#: More than that are no classes but numbers to be regressed, such as Wikipedia's traffic.
_MAXIMUM_CLASSES = 512


def load_musae(folder, *, train=0.6, validation=0.2, seed=0):
    """A graph from ``X_edges.csv``, ``X_target.csv``, and ``X_features.json`` or ``X.json``.

    The format has no split: ``random_split`` makes one. Edges are undirected; features are 0 or 1,
    and vertices without any have a row of zeros. Classes are numbered in the order of their names.

    Parameters
    ----------
    folder : path-like
        Where the files of one graph are.
    train, validation : float
        Shares of the vertices.
    seed : int
        Of the split.

    Raises
    ------
    DatasetError
        If a file is missing, damaged, or of another layout.
    """
    folder = Path(folder)
    with reading(folder, "a data set in MUSAE's layout", _ORIGIN):
        prefix = _prefix(folder)
        labels = _labels(folder / f"{prefix}_target.csv")
        features = next((path for path in (folder / f"{prefix}.json",
                                           folder / f"{prefix}_features.json") if path.exists()),
                        folder / f"{prefix}_features.json")
        return Graph.from_edges(
            _edges(folder / f"{prefix}_edges.csv"), _features(features, len(labels)), labels,
            **random_split(labels, train=train, validation=validation, seed=seed))


def _prefix(folder):
    suffix = "_edges.csv"
    names = sorted(path.name.removesuffix(suffix) for path in folder.glob(f"*{suffix}"))
    if len(names) != 1:
        raise DatasetError(f"{folder} has {len(names)} files *{suffix}; keep those of one graph in "
                           f"a folder")
    return names[0]


def _column(header, candidates, path):
    for name in candidates:
        if name in header:
            return name
    raise DatasetError(f"{path} has columns {', '.join(header)}, but none of "
                       f"{', '.join(candidates)}; rename the one that is meant")


def _labels(path):
    """Class of each vertex, -1 for numbers that are left out."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        number = _column(rows.fieldnames or (), _NUMBERS, path)
        name = _column(rows.fieldnames, _CLASSES, path)
        entries = [(int(row[number]), row[name]) for row in rows]
    numbers = np.array([vertex for vertex, _ in entries], dtype=np.int64)
    texts = [text for _, text in entries]
    numeric = all(text.isdecimal() for text in texts)
    names, classes = np.unique([int(text) for text in texts] if numeric else texts,
                               return_inverse=True)
    if len(names) > _MAXIMUM_CLASSES:
        raise DatasetError(f"column {name} of {path} has {len(names)} different values; only "
                           f"classes, at most {_MAXIMUM_CLASSES}, can be trained")
    if numbers.min() < 0 or numbers.max() >= 2 * len(numbers):
        raise DatasetError(f"column {number} of {path} goes from {numbers.min()} to "
                           f"{numbers.max()} in {len(numbers)} rows; number the vertices from 0")
    twice = np.flatnonzero(np.bincount(numbers) > 1)
    if twice.size:
        raise DatasetError(f"column {number} of {path} has {twice[0]} in several rows; keep one")
    labels = np.full(numbers.max() + 1, -1)
    labels[numbers] = classes
    return labels


def _edges(path):
    """(edges, 2) array of int; the first line names the columns, if it has no numbers."""
    with path.open(encoding="utf-8-sig") as file:
        names = int(not file.readline().replace(",", "").strip().isdecimal())
    return np.loadtxt(path, dtype=np.int64, delimiter=",", skiprows=names, ndmin=2,
                      encoding="utf-8-sig")


def _features(path, vertices):
    """(vertices, features) CSR array of 0 and 1."""
    lists = json.loads(path.read_text())
    numbers = np.array([int(vertex) for vertex in lists], dtype=np.int64)
    rows = np.repeat(numbers, [len(active) for active in lists.values()])
    values = np.concatenate([np.array(active, dtype=np.float64) for active in lists.values()])
    columns = values.astype(np.int64)
    bad = np.flatnonzero((columns != values) | (columns < 0))
    if bad.size:
        raise DatasetError(f"{path} lists {values[bad[0]]} for vertex {rows[bad[0]]}, but lists "
                           f"hold the numbers of features that are 1; save real features as edges, "
                           f"features and labels by numpy.savez")
    if not columns.size:
        raise DatasetError(f"{path} lists no feature of any vertex; give some")
    if numbers.max() >= vertices:
        raise DatasetError(f"{path} lists features of vertex {numbers.max()}, but the targets' "
                           f"vertices are 0 to {vertices - 1}; remove it")
    matrix = scipy.sparse.coo_array(
        (np.ones(len(rows)), (rows, columns)), shape=(vertices, columns.max() + 1)).tocsr()
    matrix.data[:] = 1.0  # a feature that is listed twice
    return matrix
