# SPDX-License-Identifier: BSD-2-Clause
"""Graphs to train on: bundled ones, and files and folders in the formats of others.

What loads or makes one returns the arguments of a ``Graph``: ``Graph(**karate())`` is the graph.
"""

from os import PathLike
from pathlib import Path

from hypercast.host.graphs.datasets.bundled import blocks, communities, karate
from hypercast.host.graphs.datasets.edge_list import load_edge_list
from hypercast.host.graphs.datasets.error import DatasetError
from hypercast.host.graphs.datasets.kinds import load_path
from hypercast.host.graphs.datasets.musae import load_musae
from hypercast.host.graphs.datasets.npz import load_npz
from hypercast.host.graphs.datasets.ogb import load_ogb
from hypercast.host.graphs.datasets.planetoid import load_planetoid
from hypercast.host.graphs.datasets.pyg import load_pyg
from hypercast.host.graphs.datasets.saint import load_saint
from hypercast.host.graphs.datasets.splits import random_split, split_per_class
from hypercast.host.graphs.graph_arguments import GraphArguments

__all__ = [
    "BUNDLED", "DatasetError", "blocks", "communities", "karate", "load", "load_edge_list",
    "load_musae", "load_npz", "load_ogb", "load_planetoid", "load_pyg", "load_saint",
    "random_split", "split_per_class",
]

#: Data sets that need no files, by name.
BUNDLED = {"karate": karate, "blocks": blocks, "communities": communities}


def _exists(path: str | PathLike[str]) -> bool:
    try:
        return Path(path).exists()
    except (OSError, TypeError):  # too long a name, or one in bytes
        return False


def load(source: str | PathLike[str]) -> GraphArguments:
    """A graph by name of a bundled data set, or by path of a file or folder of a known kind.

    Raises
    ------
    DatasetError
        If there is no such thing, or a file is damaged.
    """
    if isinstance(source, str) and source in BUNDLED:
        return BUNDLED[source]()
    if not isinstance(source, (str, PathLike)) or not _exists(source):
        raise DatasetError(f"{source} is neither a bundled data set ({', '.join(BUNDLED)}) nor a "
                           f"file or folder that exists; check the path")
    return load_path(source)
