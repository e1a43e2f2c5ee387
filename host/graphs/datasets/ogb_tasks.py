# SPDX-License-Identifier: BSD-2-Clause
"""Tasks of the Open Graph Benchmark's data sets, told by their files."""

from pathlib import Path

import numpy as np

from hypercast.host.files.reading.arrays import opened_archive
from hypercast.host.files.reading.number_table import read_whole_numbers
from hypercast.host.graphs.datasets.error import DatasetError
from hypercast.reference.array_types import IntArray

__all__ = ["check_task", "edges_said", "is_ogb"]

#: What is in ``raw/`` where there are several kinds of vertices or edges.
_HETEROGENEOUS = ("triplet-type-list.csv.gz", "num-node-dict.csv.gz", "edge_index_dict.npz",
                  "num_nodes_dict.npz", "relations")
_LABELS_OF_GRAPHS = ("graph-label.csv.gz", "graph-label.npz")
_LABELS = ("node-label.csv.gz", "node-label.npz")
_EDGES = ("edge.csv.gz", "data.npz")
#: Splits of edges, where vertices have no labels.
_SPLITS_OF_EDGES = ("train.pt", "split_dict.pt")
#: What ``DatasetSaver`` writes beside the archive of the data set.
_HANDED_IN = "meta_dict.pt"
#: Between the parts of a relation's name.
_JOINT = "___"

_REMEDY = "give one graph, whose vertices have features and classes, by Graph.from_edges"


def is_ogb(folder: Path) -> bool:
    """Whether a folder has the layout of OGB, whatever is to be predicted."""
    names = (*_EDGES, *_LABELS, *_HETEROGENEOUS, *_LABELS_OF_GRAPHS)
    return _has(folder / "raw", names) or _has(folder, (_HANDED_IN,)) or any(
        folder.glob("RELEASE_v*.txt"))


def _has(folder: Path, names: tuple[str, ...]) -> bool:
    return any((folder / name).exists() for name in names)


def check_task(folder: Path) -> int | None:
    """The vertices of a data set for node property prediction on one graph, if it says how many.

    Raises
    ------
    DatasetError
        If it is of another task: says which, and what is possible instead.
    FileError
        If a file is damaged.
    """
    raw = folder / "raw"
    if _has(folder, (_HANDED_IN,)):
        raise DatasetError(f"{folder} is what OGB's DatasetSaver writes to be handed in; unpack "
                           f"the .zip in it, and give the folder that has raw/")
    if _has(raw, _HETEROGENEOUS):
        raise DatasetError(f"{folder} is a heterogeneous graph of OGB, with several kinds of "
                           f"vertices or edges; {_homogeneous(raw)}")
    counts = _counts(raw)
    if _has(raw, _LABELS_OF_GRAPHS) or len(counts) > 1:
        many = f", {len(counts):,} graphs" if len(counts) else ""
        raise DatasetError(f"{folder} is for graph property prediction of OGB{many}: a whole graph "
                           f"has a label, not each vertex; {_REMEDY}")
    if not _has(raw, _LABELS) and any(
            any(folder.glob(f"split/*/{name}")) for name in _SPLITS_OF_EDGES):
        raise DatasetError(f"{folder} is for link property prediction of OGB: edges are to be "
                           f"predicted, and vertices have no classes; {_REMEDY}")
    if not _has(raw, _EDGES) and not _has(raw, _LABELS):
        raise DatasetError(f"{folder} is of OGB, but has no raw/edge.csv.gz or raw/data.npz with "
                           f"edges, and no labels of vertices: it is of another task than node "
                           f"property prediction, or not whole; {_REMEDY}")
    return int(counts[0]) if len(counts) else None


def edges_said(raw: Path) -> int | None:
    """How many edges OGB says that the graph has; None if it does not."""
    found = _counts(raw, "edge")
    return int(found[0]) if len(found) == 1 else None


def _homogeneous(raw: Path) -> str:
    """The usable part of a heterogeneous graph: edges between vertices of one kind, if any."""
    for relation in sorted(path.name for path in raw.glob(f"relations/*{_JOINT}*{_JOINT}*/")):
        source, _, target = relation.split(_JOINT, 2)
        if source == target:
            return f"give the edges of one kind, such as {relation}, and features and classes of " \
                   f"{source} by Graph.from_edges"
    return _REMEDY


def _counts(raw: Path, what: str = "node") -> IntArray:
    """Vertices, or edges, of each graph, if that is said."""
    table = raw / f"num-{what}-list.csv.gz"
    if table.exists():
        return read_whole_numbers(table)[:, 0]
    if (raw / "data.npz").exists():
        with opened_archive(raw / "data.npz") as arrays:
            if f"num_{what}s_list" in arrays.names:
                found: IntArray = arrays[f"num_{what}s_list"].reshape(-1)
                if found.dtype.kind not in "iu":
                    raise DatasetError(f"{raw / 'data.npz'} has num_{what}s_list of type "
                                       f"{found.dtype}, which is no count; download it again")
                return found
    return np.zeros(0, dtype=np.int64)
