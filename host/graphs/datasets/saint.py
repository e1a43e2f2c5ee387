# SPDX-License-Identifier: BSD-2-Clause
"""The folders of GraphSAINT: PPI, Flickr, Reddit, Yelp, AmazonProducts.

(Zeng et al., GraphSAINT: Graph Sampling Based Inductive Learning Method, 2020.)
"""

from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hypercast.host.files.reading.arrays import read_array
from hypercast.host.files.reading.csr import read_csr, require_entries
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import FileError
from hypercast.host.files.reading.whole_numbers import whole_number, whole_numbers
from hypercast.host.graphs.datasets.error import DatasetError, as_dataset_errors
from hypercast.host.graphs.datasets.splits import Splits
from hypercast.host.graphs.graph_arguments import GraphArguments, graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel, stored_edges
from hypercast.reference.array_types import IntArray

__all__ = ["load_saint"]

_ORIGIN = "https://github.com/GraphSAINT/GraphSAINT"
#: Name of each split here to its role's there.
_ROLES = {"train": "tr", "validation": "va", "test": "te"}


def load_saint(folder: str | PathLike[str]) -> GraphArguments:
    """A graph from ``adj_full.npz``, ``feats.npy``, ``class_map.json`` and ``role.json``.

    The file ``adj_train.npz`` is not read: it holds the edges among the vertices to train on,
    which ``Graph.among`` gives. The entries of ``adj_full.npz`` say where edges are, whatever their
    values: GraphSAINT takes them as truth values.

    Parameters
    ----------
    folder : path-like
        Where the files are; nothing in them is executed. A class map of lists makes a multi-label
        graph.

    Raises
    ------
    DatasetError
        If a file is missing, damaged, or of another layout, or leaves vertices out.
    """
    folder = Path(folder)
    edges, features, classes, roles = (
        folder / name for name in ("adj_full.npz", "feats.npy", "class_map.json", "role.json"))
    files = {"edges": edges, "features": features, "labels": classes,
             **dict.fromkeys(_ROLES, roles)}
    with as_dataset_errors(folder, "a data set in GraphSAINT's layout", _ORIGIN, files):
        adjacency, values = read_csr(edges), read_array(features)
        vertices = len(values)
        if adjacency.shape != (vertices, vertices):
            raise DatasetError(f"{edges} is of shape {adjacency.shape}, but {features} has "
                               f"{vertices} rows; give files of the same graph")
        require_entries(adjacency, edges)
        return graph_arguments(
            stored_edges(adjacency), values, _labels(classes, vertices),
            **_splits(roles, vertices), parallel=Parallel.SET)


def _labels(path: Path, vertices: int) -> IntArray:
    """Labels by vertex number."""
    classes = read_json(path)
    if not isinstance(classes, dict):
        raise FileError(f"{path} is no map from vertices to classes; make it again")
    try:
        numbers = [whole_number(vertex) for vertex in classes]
        several = bool(classes) and isinstance(next(iter(classes.values())), list)
        values = [whole_numbers(one) for one in classes.values()] if several else \
            whole_numbers(list(classes.values()))
    except ValueError as error:
        raise FileError(f"{path}: {error}; give a class, or a list of 0 and 1, for each vertex"
                        ) from error
    _check_all(numbers, vertices, path)
    if several and len({len(one) for one in values}) > 1:
        raise FileError(f"{path} has lists of {min(map(len, values))} and of "
                        f"{max(map(len, values))} labels; give each vertex as many")
    labels = np.empty_like(np.array(values))
    labels[numbers] = values
    return labels


def _splits(path: Path, vertices: int) -> Splits:
    """Members of each split; every vertex has a role."""
    roles = read_json(path)
    if not isinstance(roles, dict) or set(roles) != {*_ROLES.values()}:
        raise FileError(f"{path} has not just the roles {', '.join(_ROLES.values())}; make it "
                        f"again")
    splits: dict[str, IntArray] = {}
    for name, role in _ROLES.items():
        try:
            splits[name] = whole_numbers(roles[role])
        except ValueError as error:
            raise FileError(f"{path}, role {role}: {error}; give numbers of vertices") from error
    _check_all(np.concatenate([*splits.values()]), vertices, path)
    return Splits(train=splits["train"], validation=splits["validation"], test=splits["test"])


def _check_all(numbers: npt.ArrayLike, vertices: int, path: Path) -> None:
    """Refuse numbers unless they name all vertices; a number may be there twice."""
    numbers = np.asarray(numbers, dtype=np.int64)
    outside = numbers[(numbers < 0) | (numbers >= vertices)]
    if outside.size:
        raise FileError(f"{path} names vertex {outside[0]}, but the features' vertices are 0 to "
                        f"{vertices - 1}; remove it")
    missing = np.setdiff1d(np.arange(vertices), numbers)
    if missing.size:
        raise FileError(f"{path} leaves out {missing.size} of {vertices} vertices, such as "
                        f"{missing[0]}; add them")
