# SPDX-License-Identifier: BSD-2-Clause
"""MUSAE's attributed social graphs: Facebook pages, GitHub, Twitch, LastFM, Deezer.

(Rozemberczki, Allen and Sarkar, Multi-Scale Attributed Node Embedding, 2021.)
"""

import csv
import io
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import scipy.sparse

from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.number_table import read_whole_numbers
from hypercast.host.files.reading.regular_file import read_text
from hypercast.host.files.reading.whole_numbers import whole_number, whole_numbers
from hypercast.host.graphs.datasets.error import DatasetError, as_dataset_errors
from hypercast.host.graphs.datasets.splits import random_split
from hypercast.host.graphs.graph_arguments import GraphArguments, graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel
from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.rtl.limits import CLASSES

__all__ = ["load_musae"]

_ORIGIN = "https://github.com/benedekrozemberczki/MUSAE or https://snap.stanford.edu/data"
#: Columns that hold a vertex's number and its class; the first that is there is taken. Twitch's
#: ``id`` is the user's, and its graph has numbers of its own.
_NUMBERS = ("new_id", "id")
_CLASSES = ("page_type", "ml_target", "target", "mature")
#: Beyond is a slip, and no machine's memory.
_MAXIMUM_FEATURE = (1 << 24) - 1


def load_musae(folder: str | PathLike[str], *, train: float = 0.6, validation: float = 0.2,
               seed: int = 0) -> GraphArguments:
    """A graph from ``X_edges.csv``, ``X_target.csv``, and ``X_features.json`` or ``X.json``.

    The format has no split: ``random_split`` makes one. Edges are undirected, and a set. Features
    are 0 or 1, and vertices without any have a row of zeros. Classes are numbered in the order of
    their names.

    Parameters
    ----------
    folder : path-like
        Where the files of one graph are.
    train, validation : float
        Shares of the vertices.
    seed : int
        Seed of the split.

    Raises
    ------
    DatasetError
        If a file is missing, damaged, or of another layout.
    """
    folder = Path(folder)
    files: dict[str, Path] = {}
    with as_dataset_errors(folder, "a data set in MUSAE's layout", _ORIGIN, files):
        prefix = _prefix(folder)
        names = [folder / f"{prefix}.json", folder / f"{prefix}_features.json"]
        files |= {"edges": folder / f"{prefix}_edges.csv",
                  "labels": folder / f"{prefix}_target.csv",
                  "features": next((path for path in names if path.exists()), names[-1])}
        labels = _labels(files["labels"])
        return graph_arguments(
            _edges(files["edges"]), _features(files["features"], len(labels)), labels,
            **random_split(labels, train=train, validation=validation, seed=seed),
            parallel=Parallel.SET)


def _prefix(folder: Path) -> str:
    suffix = "_edges.csv"
    names = sorted(path.name.removesuffix(suffix) for path in folder.glob(f"*{suffix}"))
    if len(names) != 1:
        raise DatasetError(f"{folder} has {len(names)} files *{suffix}; keep those of one graph in "
                           f"a folder")
    return names[0]


def _column(header: Sequence[str], candidates: Sequence[str], path: Path) -> str:
    for name in candidates:
        if name in header:
            return name
    raise DatasetError(f"{path} has columns {', '.join(header)}, but none of "
                       f"{', '.join(candidates)}; rename the one that is meant")


#: What looks like a number, however it is spelt.
_LIKE_NUMBER = re.compile(r"[+\-\u2212]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf(inity)?)",
                          re.IGNORECASE)


def _labels(path: Path) -> IntArray:
    """Class of each vertex, -1 for numbers that are left out."""
    number, name, entries = _entries(path)
    numbers = np.array([vertex for vertex, _ in entries], dtype=np.int64)
    texts = [text for _, text in entries]
    values: list[int] | list[str] = texts  # names, unless one of them looks like a number
    if any(_LIKE_NUMBER.fullmatch(text.strip()) for text in texts):
        try:
            values = [whole_number(text) for text in texts]
        except ValueError as error:
            raise DatasetError(f"column {name} of {path}: {error}, but others are; give whole "
                               f"numbers, or names that are no numbers") from error
        if min(values) < -1:
            raise DatasetError(f"column {name} of {path} has {min(values)}; give classes from 0, "
                               f"or -1 for none")
    known = np.array([value != -1 for value in values])
    names, classes = np.unique(np.array(values)[known], return_inverse=True)
    if len(names) > CLASSES:  # numbers to be regressed, such as Wikipedia's traffic
        raise DatasetError(f"column {name} of {path} has {len(names)} different values; only "
                           f"classes, at most {CLASSES}, can be trained")
    if numbers.min() < 0 or numbers.max() >= 2 * len(numbers):
        raise DatasetError(f"column {number} of {path} goes from {numbers.min()} to "
                           f"{numbers.max()} in {len(numbers)} rows; number the vertices from 0")
    twice = np.flatnonzero(np.bincount(numbers) > 1)
    if twice.size:
        raise DatasetError(f"column {number} of {path} has {twice[0]} in several rows; keep one")
    labels = np.full(numbers.max() + 1, -1)
    labels[numbers[known]] = classes
    return labels


def _entries(path: Path) -> tuple[str, str, list[tuple[int, str]]]:
    """The columns that are taken, and (vertex, text of its class) of each row."""
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    header, entries = next(rows, []), []
    if len(set(header)) != len(header):
        raise DatasetError(f"{path} has columns {', '.join(header)}, one of them twice; keep one")
    number, name = (_column(header, names, path) for names in (_NUMBERS, _CLASSES))
    for row in rows:
        place = f"{path}, line {rows.line_num}"
        if row and len(row) != len(header):
            raise DatasetError(f"{place} has {len(row)} fields, but there are {len(header)} "
                               f"columns; correct the file")
        found = dict(zip(header, row, strict=False))
        try:
            entries += [(whole_number(found[number]), found[name])] if found else []
        except ValueError as error:
            raise DatasetError(f"{place}: {number} {error}; correct the file") from error
        if found and not found[name]:
            raise DatasetError(f"{place} has no {name}; give one, or remove the line")
    if not entries:
        raise DatasetError(f"{path} has no rows; give one for each vertex")
    return number, name, entries


def _edges(path: Path) -> IntArray:
    """(edges, 2) array of int; the first line may name the columns."""
    edges = read_whole_numbers(path, names=True)
    if edges.shape[1] != 2:
        raise DatasetError(f"{path} has {edges.shape[1]} numbers in a line, but an edge is of two "
                           f"vertices; correct the file")
    return edges


def _features(path: Path, vertices: int) -> SparseArray:
    """(vertices, features) CSR array of 0 and 1."""
    lists = read_json(path)
    if not isinstance(lists, dict):
        raise DatasetError(f"{path} is no map from vertices to lists of features; make it again")
    numbers, active = [], []
    for vertex, values in lists.items():
        try:
            numbers.append(whole_number(vertex))
            active.append(whole_numbers(values))
        except ValueError as error:
            raise DatasetError(f"{path}, vertex {vertex[:40]}: {error}, but lists hold the numbers "
                               f"of features that are 1; save real features as edges, features and "
                               f"labels by numpy.savez") from error
        if not 0 <= numbers[-1] < vertices:
            raise DatasetError(f"{path} lists features of vertex {numbers[-1]}, but the targets' "
                               f"vertices are 0 to {vertices - 1}; remove it")
        outside = active[-1][(active[-1] < 0) | (active[-1] > _MAXIMUM_FEATURE)]
        if outside.size:
            raise DatasetError(f"{path}, vertex {vertex}: {outside[0]} is no number of a feature, "
                               f"which are 0 to {_MAXIMUM_FEATURE}; correct the file")
    columns = np.concatenate([np.zeros(0, np.int64), *active])
    if not columns.size:
        raise DatasetError(f"{path} lists no feature of any vertex; give some")
    rows = np.repeat(numbers, [len(values) for values in active])
    matrix = scipy.sparse.coo_array(
        (np.ones(len(rows)), (rows, columns)), shape=(vertices, columns.max() + 1)).tocsr()
    matrix.data[:] = 1.0  # a feature that is listed twice
    return matrix
