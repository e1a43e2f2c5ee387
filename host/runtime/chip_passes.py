# SPDX-License-Identifier: BSD-2-Clause
"""The passes of a unit through the layers of a chip."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hypercast.host.compiler.piece_program import BACKWARD, EVALUATE, FORWARD
from hypercast.host.runtime.passes import Entries, Message, Passes
from hypercast.host.runtime.row_transfer import read_mask, write_mask, write_rows
from hypercast.host.runtime.state_transfer import read_sums
from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Tensor

if TYPE_CHECKING:
    from hypercast.host.runtime.chip_device import ChipDevice

__all__ = ["ChipPasses"]


class ChipPasses(Passes):
    """``Passes`` of a unit, by programs of a chip.

    Parameters
    ----------
    chip : ChipDevice
        The chip.
    sample, training, step, entries, weights
        As of ``PartDevice.passes``; the step is given.
    """

    def __init__(self, chip: "ChipDevice", sample: Sample, *, training: bool, step: int,
                 entries: Entries | None = None,
                 weights: Mapping[Tensor, Older] | None = None) -> None:
        super().__init__(chip.model.network, chip.model.recipe.element_width, sample,
                         training=training)
        self._chip = chip
        self._step, self._weights = step, weights
        self._entries = None if entries is None else dict(entries)
        self._last = chip.pieces.layers[-1] == len(chip.model.network.layers)
        self._taken = Message()
        #: Rows of others that parts of its pieces took, see ``ChipDevice.run``.
        self._others: dict[tuple[str, int], IntArray] = {}
        #: Entries of the exponent file that passes here have opened, and layers elsewhere.
        self._stored: set[Tensor] = set()
        self._shared: set[Tensor] = set()
        #: What a pass backward finds, instead of what the one forward left.
        self._found: dict[Tensor, tuple[int, int | None]] = {}
        self._saturated = 0

    def forward(self, message: Message) -> None:
        self._taken = message
        metrics, self._saturated = self._forward()
        if self._last:
            self.metrics = metrics

    def _forward(self) -> tuple[Metrics, int]:
        chip, piece = self._chip, FORWARD if self.training else EVALUATE
        chip.load(self.sample)
        entries = self._begin()
        entries |= {EDGES: (self.sample.edge_exponent, None),
                    FEATURES: (self.sample.features.exponent, None)}
        self._take(self._taken, entries)
        chip.present = self
        self._stored |= chip.pieces.stored[piece]
        return chip.run(piece, self._others)

    def _begin(self) -> dict[Tensor, tuple[int, int | None]]:
        """Prepare the chip; returns the entries of the exponent file that passes begin with."""
        chip, entries = self._chip, self._entries
        if self._weights is not None:
            chip.hold(self._step, self._weights)
        if not self.training:  # of the newest weights, whose peaks the next step asks for
            return dict(chip.entries() if entries is None else entries)
        entries = dict(chip.begun if entries is None else entries)
        entry_of = self._network.exponent_entry
        return entries | {entry_of(name): (one.exponent, None)
                          for name, one in (self._weights or {}).items()}

    def backward(self, message: Message) -> None:
        chip = self._chip
        if chip.present is not self:
            self._forward()
        self._take(message, dict(self._found))
        self._stored |= chip.pieces.stored[BACKWARD]
        _, saturated = chip.run(BACKWARD, self._others)
        self._saturated += saturated

    def _take(self, message: Message, entries: dict[Tensor, tuple[int, int | None]]) -> None:
        """Write what other boards made, and these ``entries`` of the exponent file."""
        driver, job = self._chip.driver, self._chip.job
        self._shared |= {*message.opened}
        entries |= {name: (exponent, None) for name, exponent in message.opened.items()}
        for name, rows in message.rows.items():
            entries[self._network.exponent_entry(name)] = rows.exponent, None
            write_rows(driver, job, name, rows.mantissas)
            if rows.mask is not None:
                write_mask(driver, job, Tensor(Kind.MASK, name.layer), rows.unpacked_mask())
        self._chip.set_entries(entries)

    def _values(self, name: Tensor) -> tuple[IntArray, int]:
        return self._chip.driver.matrix(self._chip.job, name), self.exponent(name)

    def _mask(self, name: Tensor, columns: int) -> BoolArray | None:
        return read_mask(self._chip.driver, self._chip.job, name, columns)

    def exponent(self, name: Tensor) -> int:
        entry = self._network.exponent_entry(name)
        return self._chip.driver.exponent_entry(self._chip.job, entry)[0]

    def set_entries(self, entries: Entries) -> None:
        self._found = dict(entries)

    def _gradients(self) -> tuple[dict[Tensor, IntArray], int]:
        chip = self._chip
        return read_sums(chip.driver, chip.job, chip.model.state), self._saturated

    @property
    def opened(self) -> dict[Tensor, tuple[int, int | None]]:
        entries = self._chip.entries()
        return {name: entries[name] for name in self._stored | self._shared}
