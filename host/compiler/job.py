# SPDX-License-Identifier: BSD-2-Clause
"""A job for the driver, from the compiler: program, images, and the place of each tensor."""

from dataclasses import dataclass, replace
from typing import Self

from hypercast.host.compiler.images import Image, Words
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.layout import SUMS, SUMS_AHEAD
from hypercast.host.compiler.memory_map import Region
from hypercast.host.compiler.phase_name import PhaseName
from hypercast.host.compiler.sample_plan import SamplePlan
from hypercast.host.compiler.weights import Weights
from hypercast.reference.tensor import FEATURES, Pass, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.loop import unroll

__all__ = ["Job"]


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
    exchanged : list of int
        If a step works ahead, the program of the next one: this one with ``pairs`` exchanged. Else
        empty.
    places : tuple of (int, int)
        Rows of the program memory at which ``program`` begins, and ``exchanged``. If both are the
        same, there is room for one of them, and instructions that differ are replaced.
    row_entries : tuple of (int, int)
        The same of the row table: the first entry that is this step's, and the next one's.
    pairs : tuple of (str, str)
        Names of regions that steps in turn use the other way round: sums of the input features, of
        this batch and of the next; and the two places of what a batch brings, if there are two.
    starts : dict
        Rows of ``program`` at which ``load`` (if there is one, it has to run first),
        ``aggregate_ahead`` (before a ``train`` that none has worked ahead for), ``train`` and
        ``evaluate`` start. If a step is in pieces, ``step_sums`` and ``update`` instead of
        ``train``.
    phases : list of PhaseName
        Names of the phase counters.
    updates : tuple of (int, Tensor)
        Program row and parameter of each UPDATE, whose rates change with the step.
    tensors : dict
        Entry of the exponent file (``reference.exponent_entries``) to its number.
    exponents : dict
        Entry of the exponent file to its initial exponent.
    regions : dict
        Name to ``Region`` of everything in the memory channels.
    images : list
        For each core, (region name, words) pairs: the initial memory contents.
    weights : dict
        Parameter to ``Weights``.
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
    rows: tuple[int, ...]
    row_table: list[list[int]]
    program: list[int]
    exchanged: list[int]
    places: tuple[int, int] = (0, 0)
    row_entries: tuple[int, int] = (0, 0)
    pairs: tuple[tuple[str, str], ...]
    starts: dict[str, int]
    phases: list[PhaseName]
    updates: tuple[tuple[int, Tensor], ...]
    tensors: dict[Tensor, int]
    exponents: dict[Tensor, int]
    regions: dict[str, Region]
    images: list[Image]
    weights: dict[Tensor, Weights]
    weight_bank: Words
    split_sizes: tuple[int, ...]
    messages: int
    deliveries: int
    edges: int
    imbalance: float

    @property
    def vertices(self) -> int:
        """Vertices of the last layer's output, which have labels."""
        return self.rows[-1]

    @property
    def matrices(self) -> list[Tensor]:
        """Matrices that a training step leaves in the memory channels, of what it trains on."""
        found = (region.tensor for region in self.regions.values() if region.columns)
        return [tensor for tensor in dict.fromkeys(found)
                if tensor and tensor != FEATURES and tensor.during != Pass.NEXT]

    @property
    def ahead(self) -> bool:
        """Whether a step aggregates the next sample's input features."""
        return bool(self.exchanged)

    @property
    def pieces(self) -> bool:
        """Whether a step is in pieces: sums of gradients are kept for the host between them."""
        return "step_sums" in self.starts

    @property
    def brought_early(self) -> bool:
        """Whether the lists of a sample can be brought while the step before it runs."""
        return len(self.pairs) > 1

    def after_step(self) -> Self:
        """The job of the step after a step that worked ahead: sums made for it are its own."""
        regions = {one: replace(self.regions[one], address=self.regions[other].address)
                   for pair in self.pairs for one, other in (pair, pair[::-1])}
        tensors = {SUMS: self.tensors[SUMS_AHEAD], SUMS_AHEAD: self.tensors[SUMS]}
        return replace(self, program=self.exchanged, exchanged=self.program,
                       places=self.places[::-1], row_entries=self.row_entries[::-1],
                       regions=self.regions | regions, tensors=self.tensors | tensors)

    @property
    def both_loaded(self) -> bool:
        """Whether the program memory has the program of the next step, too."""
        return self.places[0] != self.places[1]

    @property
    def counts_early(self) -> bool:
        """Whether the row counts of a sample can be brought while the step before it runs."""
        return self.row_entries[0] != self.row_entries[1]

    def start(self, program: str) -> int:
        """The row of the program memory at which a program starts."""
        return self.places[0] + self.starts[program]

    def instructions(self, program: str) -> list[int]:
        """The encoded instructions that a program issues, in order, up to its HALT."""
        first = self.starts[program]
        last = min((row for row in self.starts.values() if row > first), default=len(self.program))
        return [one.word for one in unroll(self.program, first, last)]
