# SPDX-License-Identifier: BSD-2-Clause
"""The kinds of files and folders that can be data sets, told apart by their contents."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from hypercast.host.files.reading.arrays import array_names
from hypercast.host.files.reading.regular_file import FileError, open_regular
from hypercast.host.graphs.datasets.edge_list import load_edge_list
from hypercast.host.graphs.datasets.error import DatasetError
from hypercast.host.graphs.datasets.musae import load_musae
from hypercast.host.graphs.datasets.npz import load_npz
from hypercast.host.graphs.datasets.ogb import load_ogb
from hypercast.host.graphs.datasets.ogb_tasks import is_ogb
from hypercast.host.graphs.datasets.planetoid import load_planetoid
from hypercast.host.graphs.datasets.pyg import load_pyg
from hypercast.host.graphs.datasets.saint import load_saint
from hypercast.host.graphs.graph_arguments import GraphArguments

__all__ = ["KINDS", "DatasetKind", "load_path"]


class DatasetKind(NamedTuple):
    """A kind of data set.

    Attributes
    ----------
    text : str
        What it is and by what it is recognised.
    recognised : callable
        Whether a path is one.
    load : callable
        Reads a path: gives the arguments of a ``Graph``.
    """

    text: str
    recognised: Callable[[Path], bool]
    load: Callable[[Path], GraphArguments]


def _holds(*patterns: str) -> Callable[[Path], bool]:
    """Whether a folder has a file for each of the patterns."""
    return lambda path: all(any(path.glob(pattern)) for pattern in patterns)


def _arrays(*names: str) -> Callable[[Path], bool]:
    """Whether a file is a NumPy archive with arrays of these names."""
    return lambda path: set(names) <= set(array_names(path))


KINDS = (
    DatasetKind("Planetoid folder (ind.NAME.graph, ind.NAME.allx, ...)", _holds("ind.*"),
                load_planetoid),
    DatasetKind("GraphSAINT folder (adj_full.npz, feats.npy, class_map.json, role.json)",
                _holds("adj_full.npz"), load_saint),
    DatasetKind("OGB node property folder (raw/, split/)", is_ogb, load_ogb),
    DatasetKind("MUSAE folder (X_edges.csv, X_target.csv, X.json or X_features.json)",
                _holds("*_edges.csv"), load_musae),
    DatasetKind("gnn-benchmark file (.npz with adj_data, attr_data, labels, ...)",
                _arrays("adj_data", "attr_data"), load_npz),
    DatasetKind("edge list file (.npz with edges, features, and labels or target)",
                _arrays("edges", "features"), load_edge_list),
    DatasetKind("PyTorch Geometric file (.pt with a Data)", lambda path: path.suffix == ".pt",
                load_pyg),
)


#: How the names of archives end that data sets are downloaded as.
_ARCHIVES = (".zip", ".gz", ".tar", ".tgz")


def _check_readable(path: Path) -> None:
    try:
        with open_regular(path):
            pass
    except FileError as error:
        raise DatasetError(str(error)) from error


def load_path(path: str | PathLike[str]) -> GraphArguments:
    """A graph from a file or folder of a known kind, or from a folder with one such file.

    Raises
    ------
    DatasetError
        If it is of none of ``KINDS``, or damaged.
    """
    path = Path(path)
    if not path.is_dir():
        _check_readable(path)
    for kind in KINDS:
        if kind.recognised(path):
            return kind.load(path)
    files = [*path.glob("*.npz"), *path.glob("*.pt")]
    if len(files) == 1:
        return load_path(files[0])
    inside = [folder for folder in sorted(path.glob("*/"))
              if any(kind.recognised(folder) for kind in KINDS)]
    if inside:
        raise DatasetError(f"{path} holds data sets in folders; give one of them: "
                           f"{', '.join(map(str, inside))}")
    if path.suffix in _ARCHIVES:
        raise DatasetError(f"{path} is an archive; unpack it, and give the folder that comes out")
    known = ", ".join(kind.text for kind in KINDS)
    raise DatasetError(f"{path} is no data set that is understood; give one of: {known}")
