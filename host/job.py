"""What the compiler hands to the driver: program, images, and where to find each tensor."""

from dataclasses import dataclass

import numpy as np

from hypercast.host.memory_map import Region
from hypercast.rtl.config import Config

__all__ = ["Job", "Weights"]


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Where a weight matrix (or bias) and its optimiser state lie.

    Parameters
    ----------
    name : str
        ``W1``, ``b1``, ...
    shape : tuple of int
        Rows (input features; 1 for a bias) and columns.
    base : int
        First row in the weight bank.
    tiles_in, panels : int
        Tiles of ``lanes`` rows, and panels of ``lanes`` columns.
    state : Region
        Masters and momenta, sharded over the cores.
    chunks : tuple of (int, int, int, int)
        (panel, first tile, tiles, state address) of every UPDATE: tile ``first + t`` is owned by
        core ``t mod cores``, local number ``t div cores``.
    """

    name: str
    shape: tuple
    base: int
    tiles_in: int
    panels: int
    state: Region
    chunks: tuple


@dataclass(frozen=True, kw_only=True)
class Job:
    """A compiled training job.

    Parameters
    ----------
    config : Config
        Configuration it was compiled for.
    vertices : int
        Vertices of the graph; tensors have a row each, in rank order.
    program : list of int
        Encoded instructions.
    entries : dict
        Program rows at which ``train`` and ``evaluate`` start.
    phases : list of str
        Names of the phase counters.
    updates : tuple of (int, str)
        Program row and parameter of each UPDATE, whose rates change with the epoch.
    tensors : dict
        Tensor name to number in the exponent file.
    exponents : dict
        Tensor name to initial exponent.
    regions : dict
        Name to ``Region`` of everything in the memory channels.
    images : list
        For each core, (region name, words) pairs: the initial memory contents.
    weights : dict
        Name to ``Weights``.
    weight_bank : numpy.ndarray
        Initial weight bank, (rows, chunks) ``uint32``.
    split_sizes : tuple of int
        Number of training, validation and test vertices.
    messages, deliveries, edges : int
        Flits injected, flits ejected and edges accumulated by one aggregation of one panel.
    """

    config: Config
    vertices: int
    program: list
    entries: dict
    phases: list
    updates: tuple
    tensors: dict
    exponents: dict
    regions: dict
    images: list
    weights: dict
    weight_bank: np.ndarray
    split_sizes: tuple
    messages: int
    deliveries: int
    edges: int
