# SPDX-License-Identifier: BSD-2-Clause
"""Folders of the Open Graph Benchmark's node property prediction, without its package.

(Hu et al., Open Graph Benchmark: Datasets for Machine Learning on Graphs, 2020.)
"""

from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hypercast.host.files.reading.arrays import opened_archive
from hypercast.host.files.reading.number_table import read_real_numbers, read_whole_numbers
from hypercast.host.files.reading.tensor_file import read_torch_arrays
from hypercast.host.graphs.datasets.error import DatasetError, as_dataset_errors
from hypercast.host.graphs.datasets.ogb_tasks import check_task, edges_said
from hypercast.host.graphs.datasets.splits import Splits
from hypercast.host.graphs.graph_arguments import GraphArguments, graph_arguments
from hypercast.reference.array_types import IntArray

__all__ = ["load_ogb"]

#: Edges, features and labels.
Parts: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]

_ORIGIN = "https://ogb.stanford.edu/docs/nodeprop"
#: Name of each split here to its file's.
_SPLITS = {"train": "train", "validation": "valid", "test": "test"}
#: What holds all splits, as OGB's ``DatasetSaver`` writes it.
_SPLIT_DICT = "split_dict.pt"


def load_ogb(folder: str | PathLike[str], *, directed: bool = False) -> GraphArguments:
    """A graph from a folder with ``raw/`` and ``split/NAME/``, with the benchmark's split.

    Parameters
    ----------
    folder : path-like
        Such as ``ogbn_arxiv``: with comma-separated values (``raw/edge.csv.gz``,
        ``node-feat.csv.gz``, ``node-label.csv.gz``) or arrays (``raw/data.npz``,
        ``node-label.npz``), also as OGB's ``DatasetSaver`` writes them. Several columns of labels
        make a multi-label graph. A label that is not a number is not known: so the benchmark marks
        it.
    directed : bool
        Whether an edge leads only from source to target, not back as well.

    Raises
    ------
    DatasetError
        If a file is missing, damaged, or of another layout, or the data set is of another task:
        heterogeneous, of several graphs, or to predict edges.
    """
    folder = Path(folder)
    raw = folder / "raw"
    files: dict[str, Path] = {}
    with as_dataset_errors(folder, "a data set in OGB's layout", _ORIGIN, files):
        vertices = check_task(folder)
        splits = _splits(folder / "split", files)
        read = _arrays if (raw / "data.npz").exists() else _tables
        edges, features, labels = read(raw, files)
        if vertices not in (None, len(features)):
            raise DatasetError(f"{files['features']} has features of {len(features)} vertices, but "
                               f"the graph has {vertices}; download both again from {_ORIGIN}")
        said = edges_said(raw)
        if said not in (None, len(edges)):
            raise DatasetError(f"{files['edges']} has {len(edges)} edges, but the graph has "
                               f"{said}; download both again from {_ORIGIN}")
        return graph_arguments(edges, features, _known_labels(labels), directed=directed, **splits)


def _labels(raw: Path, files: dict[str, Path]) -> npt.NDArray[Any]:
    """Labels, of an array or a table; notes their file."""
    files["labels"] = raw / "node-label.npz"
    if not files["labels"].exists():
        files["labels"] = raw / "node-label.csv.gz"
        return read_real_numbers(files["labels"], np.float64)
    with opened_archive(files["labels"]) as arrays:
        return arrays["node_label"]


def _arrays(raw: Path, files: dict[str, Path]) -> Parts:
    """Edges (E, 2), features and labels; notes their files."""
    files |= {"edges": raw / "data.npz", "features": raw / "data.npz"}
    with opened_archive(raw / "data.npz") as arrays:
        if "node_feat" not in arrays.names:
            raise _no_features(raw / "data.npz", "node_feat")
        edges, features = arrays["edge_index"].T, arrays["node_feat"]
    return edges, features, _labels(raw, files)


def _tables(raw: Path, files: dict[str, Path]) -> Parts:
    """Edges (E, 2), features and labels; notes their files."""
    files |= {"edges": raw / "edge.csv.gz", "features": raw / "node-feat.csv.gz"}
    if not files["features"].exists():
        raise _no_features(raw, "node-feat.csv.gz")
    return (read_whole_numbers(files["edges"]), read_real_numbers(files["features"], np.float32),
            _labels(raw, files))


def _no_features(place: Path, name: str) -> DatasetError:
    return DatasetError(f"{place} has no {name}: the data set has no features of vertices; make "
                        f"some and use Graph.from_edges")


def _known_labels(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels, -1 where the benchmark has none for a vertex."""
    if labels.dtype.kind == "f" and labels.shape[1:] in ((), (1,)):
        return np.where(np.isnan(labels), -1, labels)
    return labels


def _splits(folder: Path, files: dict[str, Path]) -> Splits:
    """Members of each split; notes their files."""
    names = sorted(path for path in folder.iterdir() if path.is_dir())
    if len(names) != 1:
        raise DatasetError(f"{folder} has {len(names)} folders, but one with the split is needed; "
                           f"remove the others")
    path = names[0] / _SPLIT_DICT
    if not path.exists():
        files |= {name: names[0] / f"{file}.csv.gz" for name, file in _SPLITS.items()}
        members = {name: _members(files[name]) for name in _SPLITS}
        return Splits(train=members["train"], validation=members["validation"],
                      test=members["test"])
    files |= dict.fromkeys(_SPLITS, path)
    found = read_torch_arrays(path)
    if {*found} != {*_SPLITS.values()}:
        raise DatasetError(f"{path} has {', '.join(map(str, found))[:200] or 'nothing'}, not just "
                           f"{', '.join(_SPLITS.values())}; make it again")
    return Splits(train=found["train"], validation=found["valid"], test=found["test"])


def _members(path: Path) -> IntArray:
    numbers = read_whole_numbers(path)
    if len(numbers) and numbers.shape[1] != 1:
        raise DatasetError(f"{path} has {numbers.shape[1]} numbers in a line, but one is the "
                           f"number of a vertex; make it again")
    return numbers[:, 0]
