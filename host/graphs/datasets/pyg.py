# SPDX-License-Identifier: BSD-2-Clause
"""Files in which PyTorch Geometric keeps a graph."""

import re
from os import PathLike
from pathlib import Path

from hypercast.host.files.reading.tensor_file import read_torch
from hypercast.host.graphs.datasets.error import DatasetError, as_dataset_errors
from hypercast.host.graphs.datasets.splits import random_split
from hypercast.host.graphs.graph_arguments import GraphArguments, graph_arguments
from hypercast.host.graphs.graph_checks import checked_labels
from hypercast.host.graphs.interchange.pyg import pyg_arguments, require
from hypercast.host.graphs.parallel_edges import Parallel

__all__ = ["load_pyg"]

#: Names of attributes that say who is in a split.
_SPLIT = re.compile(r"(train|val|valid|validation|test)_(mask|idx|index|indices|nodes)|split|"
                    r"split_idx")
_ORIGIN = "where it came from"


def load_pyg(path: str | PathLike[str], *, seed: int = 0) -> GraphArguments:
    """A graph from a file that ``torch.save`` wrote of a ``torch_geometric.data.Data``.

    That is also what its data sets keep as ``processed/data.pt``. A graph without any split gets a
    ``random_split``. Its ``edge_weight``, if there is one, is what edges weigh.

    Parameters
    ----------
    path : path-like
        The file; nothing in it is executed but what PyTorch takes for harmless.
    seed : int
        Seed of the split.

    Raises
    ------
    DatasetError
        If the file is missing or damaged, or a package is missing to read it.
    """
    path = Path(path)
    try:
        import torch
        from torch_geometric.data import Data, HeteroData, TemporalData
        from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
        from torch_geometric.data.storage import (
            BaseStorage,
            EdgeStorage,
            GlobalStorage,
            NodeStorage,
        )
    except ImportError as error:
        raise DatasetError(f"{path} is read by PyTorch Geometric, and {error.name} is not "
                           f"installed; `pip install torch torch_geometric`, or save the arrays "
                           f"edges, features and labels by numpy.savez") from error
    parts_of_data = [BaseStorage, Data, DataEdgeAttr, DataTensorAttr, EdgeStorage, GlobalStorage,
                     HeteroData, NodeStorage, TemporalData]
    with as_dataset_errors(path, "a Data of PyTorch Geometric", _ORIGIN):
        data = read_torch(path, torch, parts_of_data)
        if isinstance(data, tuple):  # a data set: attributes, where each graph's start, and more
            data, slices = data[:2]
            if slices and any(len(starts) > 2 for starts in slices.values()):
                raise DatasetError(f"{path} holds several graphs; torch.save the one that is meant")
        if isinstance(data, dict):
            data = Data.from_dict(data)
        if not isinstance(data, Data):
            raise DatasetError(f"{path} holds a {type(data).__name__}; torch.save a Data with x, "
                               f"y and edge_index (of a HeteroData, to_homogeneous() makes one)")
        given = [name for name in data.keys() if _SPLIT.fullmatch(name)]
        if given and "train_mask" not in given:
            raise DatasetError(f"{path} has {given[0]}, but no train_mask, which says what to "
                               f"train on; name splits train_mask, val_mask and test_mask, one "
                               f"boolean per vertex")
        parts = None if given else random_split(checked_labels(require(data, "y")), seed=seed)
        weight = "edge_weight" if getattr(data, "edge_weight", None) is not None else None
        return graph_arguments(**pyg_arguments(data, weight, parts), directed=True,
                               parallel=Parallel.MULTIGRAPH)
