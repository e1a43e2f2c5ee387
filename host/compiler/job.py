"""What the compiler hands to the driver: program, images, and where to find each tensor."""

from dataclasses import dataclass

import numpy as np

from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.memory_map import Region
from hypercast.host.compiler.sample_plan import SamplePlan
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
    height : int
        Rows a panel takes in the weight bank: whole tiles of ``lanes``, or 1 of a bias.
    panels : int
        Panels of ``lanes`` columns. Feature ``f`` of panel ``j`` is bank row ``j * height + f``
        from ``base`` on.
    state : Region
        Masters and momenta, and Adam's second moments, sharded over the cores by bank rows: row
        ``r`` is with core ``r mod cores``, as its row ``r div cores``.
    chunks : tuple of Chunk
        What every UPDATE works on, in order of rows.
    adam : bool
        Whether there are second moments.
    """

    name: str
    shape: tuple
    base: int
    height: int
    panels: int
    state: Region
    chunks: tuple
    adam: bool = False

    @property
    def rows(self):
        """Rows taken in the weight bank."""
        return self.panels * self.height

    @property
    def state_values(self):
        """32-bit values of state that a weight has."""
        return 3 if self.adam else 2

    def parts(self, rows):
        """(panel, its rows) of every panel that a range of bank rows has rows of."""
        for panel in range(rows.start // self.height, -(-rows.stop // self.height)):
            first = panel * self.height
            yield panel, range(max(rows.start - first, 0), min(rows.stop - first, self.height))


@dataclass(frozen=True, kw_only=True)
class Job:
    """A compiled training job.

    Parameters
    ----------
    config : Config
        Configuration it was compiled for.
    plan : SamplePlan
        How other samples are laid out.
    labels : LabelFormat
        How labels lie in memory.
    rows : tuple of int
        Vertices of the input, and of every layer's output; tensors have a row each, in rank order.
    row_table : list of list of int
        For each core, the row counts that instructions name.
    program : list of int
        Encoded instructions.
    entries : dict
        Program rows at which ``load`` (if there is one, it has to run first), ``train`` and
        ``evaluate`` start.
    phases : list of str
        Names of the phase counters.
    updates : tuple of (int, str)
        Program row and parameter of each UPDATE, whose rates change with the epoch.
    tensors : dict
        Name of an entry of the exponent file (``reference.slots``) to its number.
    exponents : dict
        Likewise, to initial exponent.
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
    imbalance : float
        Edges that the busiest core accumulates, over the mean; 1 is perfect balance.
    """

    config: Config
    plan: SamplePlan
    labels: LabelFormat
    rows: tuple
    row_table: list
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
    imbalance: float

    @property
    def vertices(self):
        """Vertices of the last layer's output, which have labels."""
        return self.rows[-1]

    def instructions(self, entry):
        """The encoded instructions of a program, up to its HALT."""
        first = self.entries[entry]
        return self.program[first:min(
            (row for row in self.entries.values() if row > first), default=len(self.program))]
