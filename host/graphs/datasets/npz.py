# SPDX-License-Identifier: BSD-2-Clause
"""The .npz layout of gnn-benchmark: Amazon, Coauthor, and citation graphs."""

from os import PathLike
from pathlib import Path

from hypercast.host.files.reading.arrays import Archive, opened_archive
from hypercast.host.files.reading.csr import checked_csr, require_entries
from hypercast.host.graphs.datasets.error import as_dataset_errors
from hypercast.host.graphs.datasets.splits import split_per_class
from hypercast.host.graphs.graph_arguments import GraphArguments, graph_arguments
from hypercast.host.graphs.graph_checks import checked_labels
from hypercast.host.graphs.graph_error import GraphError
from hypercast.host.graphs.parallel_edges import Parallel, stored_edges
from hypercast.reference.array_types import SparseArray

__all__ = ["load_npz"]

_ORIGIN = "https://github.com/shchur/gnn-benchmark (data/npz)"
_PARTS = ("data", "indices", "indptr", "shape")


def load_npz(path: str | PathLike[str], *, train: int = 20, validation: int = 30,
             seed: int = 0) -> GraphArguments:
    """A graph from an .npz file with ``adj_*`` and ``attr_*`` CSR parts and ``labels``.

    The format has no split: ``split_per_class`` makes one. Edges are taken as undirected and
    unweighted, as gnn-benchmark takes them.

    Parameters
    ----------
    path : path-like
        The file; nothing in it is executed.
    train, validation : int
        Vertices per class.
    seed : int
        Seed of the split.

    Raises
    ------
    DatasetError
        If the file is missing, damaged, or of another layout.
    """
    path = Path(path)
    with as_dataset_errors(path, "a graph in gnn-benchmark's layout", _ORIGIN):
        with opened_archive(path) as arrays:
            adjacency, features = (_matrix(arrays, name, path) for name in ("adj", "attr"))
            labels = checked_labels(arrays["labels"])
        require_entries(adjacency, f"{path}, adj_*")
        if adjacency.shape != (len(labels), len(labels)):
            raise GraphError(f"adj_* is of shape {adjacency.shape}, but there are {len(labels)} "
                             f"labels; it must be square with a row per vertex")
        parts = split_per_class(labels, train=train, validation=validation, seed=seed)
        return graph_arguments(stored_edges(adjacency), features, labels, **parts,
                               parallel=Parallel.SET)


def _matrix(arrays: Archive, name: str, path: Path) -> SparseArray:
    data, indices, starts, shape = (arrays[f"{name}_{part}"] for part in _PARTS)
    return checked_csr(data, indices, starts, shape, f"{path}, {name}_*")
