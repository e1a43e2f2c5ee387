# SPDX-License-Identifier: BSD-2-Clause
"""Planetoid's files ind.NAME.*: Cora, CiteSeer, PubMed.

(Yang, Cohen and Salakhutdinov, Revisiting Semi-Supervised Learning with Graph Embeddings, 2016.)
"""

import hashlib
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.host.files.reading.pickles import (
    read_pickled_array,
    read_pickled_csr,
    read_pickled_lists,
)
from hypercast.host.files.reading.regular_file import read_bytes
from hypercast.host.files.reading.whole_numbers import whole_number, whole_numbers
from hypercast.host.graphs.datasets.error import DatasetError, as_dataset_errors
from hypercast.host.graphs.graph_arguments import GraphArguments, graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel
from hypercast.reference.array_types import BoolArray, IntArray

__all__ = ["load_planetoid"]

#: SHA-256 of the known data sets' files.
CHECKSUMS = {
    "cora": {
        "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    },
}
_ORIGIN = "https://github.com/kimiyoung/planetoid (data)"
_REMEDY = f"download it again from {_ORIGIN}"


def _numbers(content: bytes, place: Path) -> IntArray:
    """(N,) int64 array of the numbers in the lines of a file."""
    try:
        return np.array([whole_number(line.decode("latin1")) for line in content.split()],
                        dtype=np.int64)
    except ValueError as error:
        raise DatasetError(f"{place}: {error}; {_REMEDY}") from error


def _onehot(content: bytes, place: Path) -> BoolArray:
    """(V, C) array of bool with at most one class in a row."""
    values = read_pickled_array(content, place)
    if values.ndim != 2 or not np.all((values == 0) | (values == 1)):
        raise DatasetError(f"{place} has labels that are not rows of 0 and 1; {_REMEDY}")
    several = np.flatnonzero(np.count_nonzero(values, axis=1) > 1)
    if several.size:
        raise DatasetError(f"{place}: row {several[0]} has "
                           f"{np.count_nonzero(values[several[0]])} classes, but a vertex has one; "
                           f"{_REMEDY}")
    return values.astype(bool)


#: How each file is read.
_READERS: dict[str, Callable[[bytes, Path], Any]] = {
    "x": read_pickled_csr, "y": _onehot, "tx": read_pickled_csr, "ty": _onehot,
    "allx": read_pickled_csr, "ally": _onehot, "graph": read_pickled_lists,
    "test.index": _numbers}



def load_planetoid(folder: str | PathLike[str], *, name: str | None = None,
                   verify: bool = True) -> GraphArguments:
    """A graph from a folder of Planetoid files, with Planetoid's split.

    Trained on the vertices of ``x``, validated on the next 500, tested on the vertices of
    ``test.index``. Test numbers that are left out belong to vertices without features or label. A
    vertex whose row of labels is zero has none, and is in no split. Neighbours are a set: a
    neighbour that is listed twice, as 302 of Cora's are, counts once.

    Parameters
    ----------
    folder : path-like
        Where the files are. They are pickles, but nothing in them is executed.
    name : str, optional
        The NAME in the files' names; needed only if there are several.
    verify : bool
        Whether the files of a known data set (cora) must be the original ones.

    Raises
    ------
    DatasetError
        If a file is missing, damaged, or not the one expected.
    """
    folder = Path(folder)
    name = name or _only_name(folder)
    files = {part: folder / f"ind.{name}.{part}" for part in _READERS}
    graph_files = {"edges": files["graph"], "features": files["allx"], "labels": files["ally"],
                   "test": files["test.index"], "train": files["y"]}
    with as_dataset_errors(folder / f"ind.{name}.*", "Planetoid's files", _ORIGIN, graph_files):
        parts = {}
        for part, path in files.items():
            content = read_bytes(path)
            if verify:
                _check_original(path, content, CHECKSUMS.get(name, {}).get(part))
            parts[part] = _READERS[part](content, path)
        return _assemble(parts, files)


def _check_original(path: Path, content: bytes, expected: str | None) -> None:
    found = hashlib.sha256(content).hexdigest()
    if expected and found != expected:
        raise DatasetError(f"{path} is not the original: SHA-256 should be {expected}, but is "
                           f"{found}; {_REMEDY}, or load with verify=False")


def _only_name(folder: Path) -> str:
    names = sorted(path.name.removeprefix("ind.").removesuffix(".graph")
                   for path in folder.glob("ind.*.graph"))
    if len(names) != 1:
        found = f"several data sets ({', '.join(names)}); give a name" if names else (
            f"no file ind.NAME.graph; {_REMEDY}")
        raise DatasetError(f"{folder} has {found}")
    return names[0]


def _assemble(parts: Mapping[str, Any], files: Mapping[str, Path]) -> GraphArguments:
    """Arguments of ``Graph``, if the parts fit each other."""
    known, tested, numbers = parts["allx"], parts["tx"], parts["test.index"]
    _check_sizes(parts, files)
    onehot = np.concatenate([parts["ally"], parts["ty"]])
    present = np.concatenate([np.arange(known.shape[0]), numbers])
    vertices = max(known.shape[0], int(numbers.max(initial=-1)) + 1)
    spread = scipy.sparse.csr_array(
        (np.ones(len(present)), (present, np.arange(len(present)))),
        shape=(vertices, len(present)))
    labels = np.full(vertices, -1)
    labels[present] = np.where(onehot.any(axis=1), onehot.argmax(axis=1), -1)
    train = len(parts["y"])
    splits = {"train": np.arange(train), "test": numbers,
              "validation": np.arange(train, min(train + 500, known.shape[0]))}
    return graph_arguments(
        _edges(parts["graph"], files["graph"]),
        spread @ scipy.sparse.vstack([known, tested], format="csr"), labels,
        **{name: members[labels[members] >= 0] for name, members in splits.items()},
        parallel=Parallel.SET)


def _check_sizes(parts: Mapping[str, Any], files: Mapping[str, Path]) -> None:
    """Refuse parts that are of different graphs."""
    for one, other in (("allx", "ally"), ("tx", "ty"), ("tx", "test.index"), ("x", "y")):
        rows = [parts[name].shape[0] for name in (one, other)]
        if rows[0] != rows[1]:
            raise DatasetError(f"{files[one]} is of {rows[0]} vertices, but {files[other]} of "
                               f"{rows[1]}; {_REMEDY}")
    for names in (("allx", "tx", "x"), ("ally", "ty", "y")):
        columns = {name: parts[name].shape[1] for name in names}
        for name, count in columns.items():
            if count != columns[names[0]]:
                raise DatasetError(f"{files[name]} has {count} columns, but {files[names[0]]} "
                                   f"{columns[names[0]]}; {_REMEDY}")
    first, numbers = parts["allx"].shape[0], parts["test.index"]
    if len(parts["y"]) > first or not np.array_equal(parts["y"], parts["ally"][:len(parts["y"])]):
        raise DatasetError(f"{files['y']} is not the beginning of {files['ally']}; {_REMEDY}")
    if (parts["x"] != parts["allx"][:len(parts["y"])]).nnz:
        raise DatasetError(f"{files['x']} is not the beginning of {files['allx']}; {_REMEDY}")
    values, times = np.unique(numbers, return_counts=True)
    if times.max(initial=1) > 1 or values.min(initial=first) < first:
        raise DatasetError(f"{files['test.index']} has a number twice, or one that allx has, too; "
                           f"{_REMEDY}")
    if values.max(initial=0) >= 2 * (first + len(numbers)):
        raise DatasetError(f"{files['test.index']} reaches to {values.max()}, leaving most "
                           f"vertices out; {_REMEDY}")


def _edges(graph: Mapping[Any, object], path: Path) -> IntArray:
    """(edges, 2) array of int of lists of neighbours."""
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    for source, targets in graph.items():
        try:
            targets = whole_numbers(targets)
            pairs.append(np.stack([np.full(len(targets), whole_numbers([source])[0]), targets],
                                  axis=1))
        except ValueError as error:
            raise DatasetError(f"{path}, vertex {str(source)[:40]}: {error}; {_REMEDY}") from error
    return np.concatenate(pairs)
