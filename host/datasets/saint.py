"""The folders of GraphSAINT: PPI, Flickr, Reddit, Yelp, AmazonProducts.

(Zeng et al., GraphSAINT: Graph Sampling Based Inductive Learning Method, 2020.)
"""

import json
from pathlib import Path

import numpy as np
import scipy.sparse

from hypercast.host.datasets.error import reading
from hypercast.host.graph import Graph

__all__ = ["load_saint"]

_ORIGIN = "https://github.com/GraphSAINT/GraphSAINT"


def load_saint(folder):
    """A graph from ``adj_full.npz``, ``feats.npy``, ``class_map.json`` and ``role.json``.

    The file ``adj_train.npz`` is not read: it holds the edges among the vertices to train on,
    which ``Graph.among`` gives.

    Parameters
    ----------
    folder : path-like
        Where the files are; nothing in them is executed. A class map of lists makes a multi-label
        graph.

    Raises
    ------
    DatasetError
        If a file is missing, damaged, or of another layout.
    """
    folder = Path(folder)
    with reading(folder, "a data set in GraphSAINT's layout", _ORIGIN):
        adjacency = scipy.sparse.load_npz(folder / "adj_full.npz")
        features = np.load(folder / "feats.npy", allow_pickle=False)
        classes = json.loads((folder / "class_map.json").read_text())
        roles = json.loads((folder / "role.json").read_text())
        adjacency = scipy.sparse.coo_array(adjacency)
        return Graph.from_edges(
            np.stack([adjacency.col, adjacency.row], axis=1), features,
            _labels(classes, len(features)), train=_members(roles["tr"]),
            validation=_members(roles["va"]), test=_members(roles["te"]))


def _labels(classes, vertices):
    """Labels by vertex number; vertices without an entry have no label, or none of the labels."""
    numbers = np.array([int(vertex) for vertex in classes], dtype=np.int64)
    values = np.array(list(classes.values()))
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < vertices:
        raise ValueError(f"class_map.json names vertices {numbers.min()} to {numbers.max()}, but "
                         f"feats.npy has rows 0 to {vertices - 1}")
    labels = np.full((vertices, *values.shape[1:]), -1 if values.ndim == 1 else 0, values.dtype)
    labels[numbers] = values
    return labels


def _members(vertices):
    return np.array(vertices, dtype=np.int64)
