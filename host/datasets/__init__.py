"""Graphs to train on: bundled ones, and files in two common formats."""

from pathlib import Path

from hypercast.host.datasets.bundled import blocks, karate
from hypercast.host.datasets.error import DatasetError
from hypercast.host.datasets.npz import load_npz
from hypercast.host.datasets.planetoid import load_planetoid
from hypercast.host.datasets.splits import split_per_class

__all__ = [
    "BUNDLED", "DatasetError", "blocks", "karate", "load", "load_npz", "load_planetoid",
    "split_per_class",
]

#: Data sets that need no files, by name.
BUNDLED = {"karate": karate, "blocks": blocks}


def load(source):
    """A graph by name of a bundled data set, or from a Planetoid folder or an npz file.

    Raises
    ------
    DatasetError
        If there is no such thing, or a file is damaged.
    """
    if source in BUNDLED:
        return BUNDLED[source]()
    path = Path(source)
    if path.is_dir():
        return load_planetoid(path)
    if path.suffix == ".npz":
        return load_npz(path)
    raise DatasetError(f"{source} is neither a bundled data set ({', '.join(BUNDLED)}) nor a "
                       f"folder with Planetoid files nor an .npz file; check the path")
