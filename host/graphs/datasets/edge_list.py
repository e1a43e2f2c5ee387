# SPDX-License-Identifier: BSD-2-Clause
"""NumPy archives of an edge list, features and classes."""

import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from hypercast.host.files.reading.arrays import opened_archive
from hypercast.host.graphs.datasets.error import DatasetError, as_dataset_errors
from hypercast.host.graphs.datasets.splits import random_split
from hypercast.host.graphs.graph_arguments import GraphArguments, graph_arguments
from hypercast.host.graphs.graph_checks import checked_labels

__all__ = ["load_edge_list"]

_ORIGIN = "where it came from"
_SPLITS = ("train", "validation", "test")


def load_edge_list(path: str | PathLike[str], *, seed: int = 0) -> GraphArguments:
    """A graph from an .npz file with arrays ``edges``, ``features`` and ``labels``.

    It may have ``weights``, one for each edge. Arrays are what ``Graph.from_edges`` takes; edges
    are undirected. The MUSAE graphs that PyTorch Geometric downloads have ``target`` for
    ``labels``.

    Parameters
    ----------
    path : path-like
        The file, with arrays ``train``, ``validation`` and ``test``, too, or ``random_split``
        makes a split; nothing in it is executed.
    seed : int
        Seed of the split.

    Raises
    ------
    DatasetError
        If the file is missing, damaged, or of another layout.
    """
    path = Path(path)
    with as_dataset_errors(path, "an edge list with features and labels", _ORIGIN), \
            opened_archive(path) as arrays:
        kinds = {"labels", "target"} & {*arrays.names}
        if len(kinds) != 1:
            found = "both labels and target" if kinds else "no labels"
            raise DatasetError(f"{path} has arrays {', '.join(arrays.names)}, but {found}; give "
                               f"one: a class per vertex, or a row of 0 and 1")
        labels = checked_labels(arrays[kinds.pop()])
        splits = {name: arrays[name] for name in _splits(path, arrays.names)}
        others = {*arrays.names} - {"edges", "features", "weights", "labels", "target", *splits}
        if others:
            raise DatasetError(f"{path} has an array {min(others)}, which means nothing here; "
                               f"arrays are edges, features, labels, weights, "
                               f"{', '.join(_SPLITS)}; rename it, or leave it out")
        weights = arrays["weights"] if "weights" in arrays.names else None
        return graph_arguments(arrays["edges"], arrays["features"], labels, weights=weights,
                               **(splits or random_split(labels, seed=seed)))


def _splits(path: Path, names: Sequence[str]) -> list[str]:
    """Names of arrays that are splits: none, or at least a split to train on."""
    found = [name for name in names
             if re.fullmatch(r"(train|val|valid|validation|test)(_\w+)?", name)]
    if found and not {"train"} <= {*found} <= {*_SPLITS}:
        raise DatasetError(f"{path} has splits {', '.join(found)}; name them train (which is "
                           f"needed), validation and test")
    return found
