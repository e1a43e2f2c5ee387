"""Emits a training step in pieces that devices share: runs of layers, cut where rows cross."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Unpack

from hypercast.host.compiler.emitter import Finish
from hypercast.host.compiler.lowering import Program
from hypercast.host.compiler.phase_name import PhaseKind
from hypercast.reference.dropout import Dropout
from hypercast.reference.tensor import FEATURES, Kind, Pass, Tensor

__all__ = ["BACKWARD", "EVALUATE", "FORWARD", "PIECES", "UPDATE", "PieceProgram", "piece_entry"]

#: Pieces: layers forward, the last one with the loss; backward, to gradients of which sums are
#: kept; the update of parameters by sums that were kept; and an evaluation.
PIECES = (FORWARD, BACKWARD, UPDATE, EVALUATE) = ("forward", "backward", "update", "evaluate")


def piece_entry(name: str, number: int = 0) -> str:
    """Entry of a part of a piece, from 0."""
    return f"{name} {number}" if number else name


@dataclass
class PieceProgram(Program):
    """A ``Program`` of some layers, whose inputs and outputs cross between devices.

    If devices share the rows of matrices, a piece ends before each sum over neighbours, and goes on
    when rows of others have come. What is kept of hidden features is then not hashed on the chip,
    which knows no ranks of its rows: it lies in their masks when they are made. Nor do input
    features have dropout here: they are written without what is dropped.

    Parameters
    ----------
    layers : range
        The layers, from 1.
    shared : bool
        Whether devices share the rows of matrices.

    Attributes
    ----------
    crossing : dict
        Piece to the tensors of which rows cross before its parts, None before those that need none.
    """

    layers: range = range(0)
    shared: bool = False
    crossing: dict[str, list[Tensor | None]] = field(default_factory=dict)
    _entries: dict[str, int] = field(default_factory=dict)
    _piece: str = ""

    def emit(self, names: Iterable[str]) -> dict[str, int]:
        """Emit these of ``PIECES``, one after the other.

        Returns
        -------
        dict
            Entry of each part (``piece_entry``) to its first instruction.
        """
        for self._piece in names:
            self.crossing[self._piece] = [None]
            self._entries[self._piece] = self.rows
            getattr(self, self._piece)()
        return self._entries

    def forward(self) -> None:
        """Layers forward, in training."""
        self._run_forward(Pass.TRAINING)
        phase = self._phase(PhaseKind.FORWARD, self.layers[-1])
        if self._has_last:
            self._loss()
            phase = self._phase(PhaseKind.LOSS)
        self.emitter.halt(phase=phase, step=0, goes_on=True)

    def evaluate(self) -> None:
        """Layers forward, without dropout."""
        self._run_forward(Pass.EVALUATION)
        if self._has_last:
            self.evaluate_loss()
        else:
            self.emitter.halt(phase=self._phase(PhaseKind.EVALUATE), step=0)

    def backward(self) -> None:
        """Layers backward; sums of gradients are kept."""
        after = range(self.layers[-1] + 1, len(self.network.layers) + 1)
        self._go_on(Tensor(Kind.AGGREGATED_GRADIENT, 1),
                    opened=any(map(self.network.sums_gradients, after))
                    or (bool(after) and len(self.network.jumping) > 1)
                    or any(number in after for number in self.network.initial))
        for number in reversed(self.layers):
            self._backward(number)
            if self.shared:  # what accumulates is taken before the next cut
                self._keep(number)
        if not self.shared:
            for number in reversed(self.layers):
                self._keep(number)
        self.gradient_emitter.halt(phase=self._phase(PhaseKind.UPDATE), step=0)

    def update(self) -> None:
        """Parameters are updated by the sums that were kept; the step ends."""
        for number in reversed(self.layers):
            self._update(number)
        self.gradient_emitter.halt(phase=self._phase(PhaseKind.UPDATE))

    @property
    def _layers(self) -> range:
        return self.layers

    @property
    def _has_last(self) -> bool:
        return self.layers[-1] == len(self.network.layers)

    def _run_forward(self, during: Pass) -> None:
        hidden = Tensor(Kind.HIDDEN, 1, during)
        self._go_on(hidden, opened=self.layers[0] > 1)
        for number in self.layers:
            self._forward_layer(number, during)

    def _go_on(self, name: Tensor, *, opened: bool) -> None:
        """What is stored may have an entry that layers elsewhere opened, if they have it in common.
        """
        entry = self.network.exponent_entry(name)
        if opened and not entry.layer:
            self.emitter.go_on([entry])

    # What differs where devices share the rows of matrices.

    def _sum(self, phase: int, source: Tensor, number: int, result: Tensor, *,
             backward: bool = False, linear: bool = False, roots: Iterable[Tensor] = (),
             **finish: Unpack[Finish]) -> None:
        if self.shared and not linear and source != FEATURES:  # which never change
            self._cut(phase, source)
        super()._sum(phase, source, number, result, backward=backward, linear=linear, roots=roots,
                     **finish)

    def _cut(self, phase: int, source: Tensor) -> None:
        """End a part, if there is anything in it: rows of a tensor cross before the next one."""
        parts = self.crossing[self._piece]
        if self.emitter.schedule.empty:
            parts[-1] = source
            return
        self.gradient_emitter.halt(phase=phase, step=0, goes_on=True)
        self._entries[piece_entry(self._piece, len(parts))] = self.rows
        parts.append(source)

    def _dropped(self, number: int) -> Finish:
        finish = super()._dropped(number)
        if self.shared and self.network.dropouts[number].threshold:
            return {"mask_write": finish["mask_write"], "mask_read": finish["mask_write"]}
        return finish

    def _feed(self) -> Dropout | None:
        return None if self.shared else super()._feed()
