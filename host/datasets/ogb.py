"""Folders of the Open Graph Benchmark's node property prediction, without its package.

(Hu et al., Open Graph Benchmark: Datasets for Machine Learning on Graphs, 2020.)
"""

import warnings
from pathlib import Path

import numpy as np

from hypercast.host.datasets.error import DatasetError, reading
from hypercast.host.graph import Graph

__all__ = ["load_ogb"]

_ORIGIN = "https://ogb.stanford.edu/docs/nodeprop"
#: Name of each split here to its file's.
_SPLITS = {"train": "train", "validation": "valid", "test": "test"}


def load_ogb(folder, *, directed=False):
    """A graph from a folder with ``raw/`` and ``split/NAME/``, with the benchmark's split.

    Parameters
    ----------
    folder : path-like
        Such as ``ogbn_arxiv``: with comma-separated values (``raw/edge.csv.gz``,
        ``node-feat.csv.gz``, ``node-label.csv.gz``) or arrays (``raw/data.npz``,
        ``node-label.npz``). Several columns of labels make a multi-label graph.
    directed : bool
        Whether an edge leads only from source to target, not back as well.

    Raises
    ------
    DatasetError
        If a file is missing, damaged, or of another layout.
    """
    folder = Path(folder)
    with reading(folder, "a data set in OGB's layout", _ORIGIN):
        edges, features, labels = _arrays(folder / "raw")
        return Graph.from_edges(edges, features, labels, directed=directed,
                                **_splits(folder / "split"))


def _arrays(raw):
    """Edges (E, 2), features and labels."""
    if (raw / "data.npz").exists():
        with np.load(raw / "data.npz", allow_pickle=False) as file:
            edges, features = file["edge_index"].T, file["node_feat"]
        with np.load(raw / "node-label.npz", allow_pickle=False) as file:
            return edges, features, file["node_label"]
    if not (raw / "node-feat.csv.gz").exists():
        raise DatasetError(f"{raw} has no node-feat.csv.gz: the data set has no features of "
                           f"vertices; make some and use Graph.from_edges")
    return (_csv(raw / "edge.csv.gz", np.int64), _csv(raw / "node-feat.csv.gz", np.float32),
            _csv(raw / "node-label.csv.gz", np.float64))


def _splits(folder):
    """Members of each split."""
    names = sorted(path for path in folder.iterdir() if path.is_dir())
    if len(names) != 1:
        raise DatasetError(f"{folder} has {len(names)} folders, but one with the split is needed; "
                           f"remove the others")
    return {name: _csv(names[0] / f"{file}.csv.gz", np.int64)[:, 0]
            for name, file in _SPLITS.items()}


def _csv(path, dtype):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "loadtxt: input contained no data")
        return np.loadtxt(path, dtype=dtype, delimiter=",", ndmin=2)
