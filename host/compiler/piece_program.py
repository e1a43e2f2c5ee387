# SPDX-License-Identifier: BSD-2-Clause
"""Emits a training step in pieces that devices share: runs of layers, cut where rows cross."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from hypercast.host.compiler.lowering import Program
from hypercast.host.compiler.phase_name import PhaseKind
from hypercast.reference.step_graph import Node, Op
from hypercast.reference.tensor import FEATURES, Kind, Pass, Tensor

__all__ = ["BACKWARD", "EVALUATE", "FORWARD", "PIECES", "UPDATE", "PieceProgram", "part_name"]

#: Pieces: layers forward, the last one with the loss; layers backward, to kept sums of gradients;
#: the update of parameters by kept sums; and an evaluation.
PIECES = (FORWARD, BACKWARD, UPDATE, EVALUATE) = ("forward", "backward", "update", "evaluate")


def part_name(name: str, number: int = 0) -> str:
    """Name of the program of a part of a piece; parts are numbered from 0."""
    return f"{name} {number}" if number else name


@dataclass
class PieceProgram(Program):
    """A ``Program`` of some layers, whose inputs and outputs cross between devices.

    If devices share the rows of matrices, a piece ends before each sum over neighbours, and goes on
    when rows of others have come.

    Parameters
    ----------
    layers : range
        The layers, from 1.
    shared : bool
        Whether devices share the rows of matrices.

    Attributes
    ----------
    crossing : dict
        Piece to the tensors whose rows cross before its parts; None for a part that needs none.
    """

    layers: range = range(0)
    shared: bool = False
    crossing: dict[str, list[Tensor | None]] = field(default_factory=dict)
    _starts: dict[str, int] = field(default_factory=dict)
    _piece: str = ""

    def emit(self, names: Iterable[str]) -> dict[str, int]:
        """Emit these of ``PIECES``, one after the other.

        Returns
        -------
        dict
            Name of each part (``part_name``) to its first instruction.
        """
        for self._piece in names:
            self.crossing[self._piece] = [None]
            self._starts[self._piece] = self.rows
            getattr(self, self._piece)()
        return self._starts

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
        self._go_on(self.network.exponent_entry(node.result)
                    for layer in self.graph.gradients_after(self.layers)
                    for node in self.graph.backward_of(layer))
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
        if self.layers[0] > 1:
            self._go_on([self.network.exponent_entry(Tensor(Kind.HIDDEN, 1, during))])
        for number in self.layers:
            self._forward_layer(number, during)

    def _go_on(self, entries: Iterable[Tensor]) -> None:
        """Layers elsewhere have opened entries, if they have them in common with these."""
        self.emitter.go_on([entry for entry in entries if not entry.layer])

    # What differs where devices share the rows of matrices.

    def _compute(self, phase: int, node: Node) -> None:
        first = node.terms[0]
        if self.shared and first.op == Op.AGGREGATE and first.rows != FEATURES:  # never change
            self._cut(phase, first.rows)
        super()._compute(phase, node)

    def _cut(self, phase: int, source: Tensor) -> None:
        """End a part, if there is anything in it: rows of a tensor cross before the next one."""
        parts = self.crossing[self._piece]
        if self.emitter.schedule.empty:
            parts[-1] = source
            return
        self.gradient_emitter.halt(phase=phase, step=0, goes_on=True)
        self._starts[part_name(self._piece, len(parts))] = self.rows
        parts.append(source)
