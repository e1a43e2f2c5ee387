# SPDX-License-Identifier: BSD-2-Clause
"""Emits the program of a network: a training step, and an evaluation.

Tensors are named as in ``reference.fixed_passes``.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Self

from hypercast.host.compiler.emitter import Emitter, PlacedMessages
from hypercast.host.compiler.execution import execute
from hypercast.host.compiler.gradient_emitter import GradientEmitter
from hypercast.host.compiler.issue_order import TRIALS
from hypercast.host.compiler.layout import SUMS, SUMS_AHEAD, Layout
from hypercast.host.compiler.memory_map import CapacityError, find_shortage
from hypercast.host.compiler.operand_map import LeftOperand
from hypercast.host.compiler.phase_name import PhaseKind, PhaseName
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.strip_loops import UnlikeStripsError
from hypercast.host.compiler.tiling import LOOPED, PLAIN, SWEEPS, Tiling
from hypercast.host.compiler.vertices import Vertices
from hypercast.reference.network import Network
from hypercast.reference.step_graph import Node, Op, StepGraph, step_graph
from hypercast.reference.tensor import Kind, Pass, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.registers import PHASES

__all__ = ["Program", "fit_program"]

#: Strips from which on programs are in loops if they can be.
_MANY = 32
#: Names of the programs that steps begin with.
_STEP = ("train", "step_sums")
#: Kinds of phases that are of layers, and phases that are of all of them: loss, evaluation and the
#: end of the update.
_OF_LAYERS, _WHOLE = 3, 3


@dataclass
class Program:
    """Emits instructions for one network.

    Parameters
    ----------
    network : Network
        The network that is trained.
    emitter : Emitter
        Emits products and the loss.
    gradient_emitter : GradientEmitter
        Emits the rest of a training step, with that emitter.
    ahead : bool
        Whether a training step aggregates the next batch's features: a first layer that aggregates
        first finds its own in M1, made in the step before, and leaves those in M1.next.

    Attributes
    ----------
    phases : list of PhaseName
        Names of the phase counters.
    slowdown : CapacityError or None
        That a longer program would be faster, and the remedy.
    """

    network: Network
    emitter: Emitter
    gradient_emitter: GradientEmitter
    ahead: bool = False
    phases: list[PhaseName] = field(default_factory=list)
    slowdown: CapacityError | None = None

    @classmethod
    def of(cls, layout: Layout, *, inputs: LeftOperand, tensors: Mapping[Tensor, int],
           messages: Mapping[tuple[int, bool], Sequence[PlacedMessages]],
           roots: Mapping[tuple[int, bool], Sequence[PlacedMessages]],
           digits: Mapping[Tensor, int], headroom: Callable[[Tensor], int], schedule: Schedule,
           following: Sequence[Vertices], tiling: Tiling = PLAIN) -> Self:
        """A program on a ``Layout`` with the input features placed; nothing is emitted yet.

        Parameters
        ----------
        layout : Layout
            Where everything lies.
        digits : dict
            As in ``GradientEmitter``; as many as an accumulator has where it says nothing.
        inputs, tensors, messages, roots, headroom, schedule, following, tiling
            As in ``Layout.emitter``.
        """
        emitter = layout.emitter(
            inputs=inputs, tensors=tensors, messages=messages, roots=roots, headroom=headroom,
            schedule=schedule, following=following, tiling=tiling)
        every = dict.fromkeys(layout.weights, layout.config.digits) | dict(digits)
        return cls(network=layout.network, emitter=emitter, ahead=layout.ahead,
                   gradient_emitter=GradientEmitter(emitter=emitter, digits=every))

    @property
    def graph(self) -> StepGraph:
        """The step graph that a step computes."""
        return step_graph(self.network)

    @property
    def rows(self) -> int:
        """How many instructions there are."""
        return self.emitter.schedule.rows

    def step_cycles(self, starts: Mapping[str, int]) -> int:
        """Cycles of a training step by the cycle model; ``starts`` as ``emit`` returns them."""
        first = next((starts[name] for name in _STEP if name in starts), 0)
        rows = range(first, starts.get("evaluate", self.rows))
        return sum(execute(issued, len(self.phases))[0]
                   for row, issued in self.emitter.schedule.programs.items() if row in rows)

    def emit(self, names: Iterable[str]) -> dict[str, int]:
        """Emit these of the methods below, one after the other.

        Returns
        -------
        dict
            Name to its first instruction, of those that have any.
        """
        starts = {}
        for name in names:
            row = self.rows
            getattr(self, name)()
            if row < self.rows:
                starts[name] = row
        return starts

    def load(self) -> bool:
        """Emit the program that runs once, before all else; False if there is nothing to do."""
        node = self.graph.forward_of(1, Pass.EVALUATION)[0]
        if node.terms[0].op != Op.MULTIPLY:
            return False
        phase = self._phase(PhaseKind.FORWARD, 1)
        loaded = self.emitter.load(
            phase, replace(node, terms=node.terms[:1], bias=None, relu=False))
        if loaded:
            self.emitter.halt(phase=phase, step=0)
        return loaded

    def aggregate_ahead(self) -> bool:
        """Emit the sums that a first step lacks if steps work ahead; False if they do not."""
        if self.ahead:
            self._compute(self._phase(PhaseKind.FORWARD, 1), self.graph.forward[0])
            self.emitter.halt(phase=self._phase(PhaseKind.FORWARD, 1), step=0)
        return self.ahead

    def train(self) -> None:
        """A training step: forward, loss, backward, update."""
        self._gradients()
        for number in range(len(self.network.layers), 0, -1):
            self._update(number)
        self.gradient_emitter.halt(phase=self._phase(PhaseKind.UPDATE))

    def step_sums(self) -> None:
        """A training step without its update: sums of gradients are kept."""
        self._gradients()
        for number in range(len(self.network.layers), 0, -1):
            self._keep(number)
        self.gradient_emitter.halt(phase=self._phase(PhaseKind.UPDATE), step=0)

    def update(self) -> None:
        """The rest of a training step: parameters are updated by the sums that were kept."""
        for number in range(len(self.network.layers), 0, -1):
            self._update(number)
        self.gradient_emitter.halt(phase=self._phase(PhaseKind.UPDATE))

    def _gradients(self) -> None:
        """A training step up to its reduced gradients."""
        self._forward(Pass.TRAINING)
        self._loss()
        for number in range(len(self.network.layers), 0, -1):
            self._backward(number)

    def layer_alone(self, number: int) -> None:
        """Two programs: a layer forward, the last one with the loss, and backward with its update.
        """
        self._forward_layer(number, Pass.TRAINING)
        if number == len(self.network.layers):
            self._loss()
        self.emitter.halt(phase=self._phase(PhaseKind.FORWARD, number), step=0)
        self._backward(number)
        self._update(number)
        self.gradient_emitter.halt(phase=self._phase(PhaseKind.UPDATE))

    def evaluate(self) -> None:
        """A forward pass without dropout, for its metrics."""
        self._forward(Pass.EVALUATION)
        self.evaluate_loss()

    def evaluate_loss(self) -> None:
        """The rest of an evaluation, from its logits to its metrics."""
        last, phase = len(self.network.layers), self._phase(PhaseKind.EVALUATE)
        self.emitter.loss(phase, Tensor(Kind.LOGITS, last, Pass.EVALUATION),
                          Tensor(Kind.GRADIENT, last), self.network.classes, train=False)
        self.emitter.halt(phase=phase, step=0)

    def evaluate_apart(self, number: int) -> Iterator[Tensor]:
        """A layer of an evaluation, with a program of its own for each tensor that is stored.

        Each program is emitted when the name of its tensor is asked for.
        """
        for name in self._forward_tensors(number, Pass.EVALUATION):
            self.emitter.halt(phase=self._phase(PhaseKind.EVALUATE), step=0)
            yield name

    def _forward(self, during: Pass) -> None:
        for number, _ in enumerate(self.network.layers, 1):
            self._forward_layer(number, during)

    def _forward_layer(self, number: int, during: Pass) -> None:
        for _ in self._forward_tensors(number, during):
            pass

    def _forward_tensors(self, number: int, during: Pass) -> Iterator[Tensor]:
        """Emit a layer; what it stores is named one by one, each when all of it is emitted."""
        phase = (self._phase(PhaseKind.FORWARD, number) if during == Pass.TRAINING
                 else self._phase(PhaseKind.EVALUATE))
        for node in self.graph.forward_of(number, during):
            self._compute(phase, node)
            yield node.result

    def _compute(self, phase: int, node: Node) -> None:
        """Emit a node. If a step works ahead, sums of input features are the next step's."""
        if self.ahead and node.result == SUMS:
            node = replace(node, result=SUMS_AHEAD)
        self.emitter.compute(phase, node)

    def _loss(self) -> None:
        last = len(self.network.layers)
        self.emitter.loss(self._phase(PhaseKind.LOSS), Tensor(Kind.LOGITS, last),
                          Tensor(Kind.GRADIENT, last), self.network.classes, train=True)

    def _backward(self, number: int) -> None:
        """The gradients of a layer's inputs and parameters."""
        phase = self._phase(PhaseKind.BACKWARD, number)
        for node in self.graph.backward_of(number):
            self._compute(phase, node)
        self.gradient_emitter.reduce(
            self._phase(PhaseKind.UPDATE, number), self.graph.gradients_of(number))

    def _keep(self, number: int) -> None:
        """Keep the sums of a layer's gradients, which have been reduced."""
        for gradient in self.graph.gradients_of(number):
            self.gradient_emitter.keep(self._phase(PhaseKind.UPDATE, number), gradient.parameter)

    def _update(self, number: int) -> None:
        """Update a layer's parameters."""
        for gradient in self.graph.gradients_of(number):
            self.gradient_emitter.update(self._phase(PhaseKind.UPDATE, number), gradient)

    @property
    def _layers(self) -> range:
        """The layers, from 1, that instructions are of."""
        return range(1, len(self.network.layers) + 1)

    def _phase(self, kind: PhaseKind, layer: int = 0) -> int:
        """Number of a phase's counter; runs of layers share one if there are not enough."""
        name = PhaseName(kind)
        if layer:
            own = self._layers
            run = -(-len(own) // ((PHASES - _WHOLE) // _OF_LAYERS))
            first = layer - (layer - own[0]) % run
            last = min(first + run - 1, own[-1])
            name = PhaseName(kind, first, last if last > first else 0)
        if name not in self.phases:
            self.phases.append(name)
        return self.phases.index(name)


def fit_program(made: Callable[[Tiling, Schedule], Program],
                emitted: Callable[[Program], dict[str, int]], config: Config,
                vertices: Sequence[Vertices], trials: int = TRIALS, *, loops: bool = True,
                ) -> tuple[Program, dict[str, int]]:
    """The fastest program that there is room for, or else a short one, and where its parts start.

    If rows are worked on in several strips, the cycle model chooses in what order, unless there
    are no ``trials``, and whether in loops. Where there are many strips, programs are in loops if
    strips are alike: without them, they would be long, and ordering them would take long.
    Operands that take turns take more instructions, so they do only where there is room.

    Parameters
    ----------
    made : callable
        Gives an empty program of a ``Tiling`` on a ``Schedule``.
    emitted : callable
        Emits it, and says where its parts start.
    config : Config
        Configuration of the chip, which has room for ``program_rows`` instructions.
    vertices : sequence of Vertices
        What the program's tensors have rows of.
    trials : int
        As in ``Schedule``.
    loops : bool
        Whether the program may have loops.
    """
    longer: list[tuple[int, int]] = []  # cycles, and rows, of steps that there is no room for

    def emit(tiling: Tiling, trials: int) -> tuple[Program, dict[str, int]]:
        program = made(tiling, Schedule(trials=trials, loops=tiling.loops))
        starts = emitted(program)
        beyond = program.rows > config.program_rows
        if longer or beyond:
            step = program.step_cycles(starts)
            longer.extend([(step, program.rows)] * beyond)
            fastest, rows = min(longer)
            if fastest < step:
                program.slowdown = find_shortage(
                    config, "program_rows", rows,
                    f"with them, a step takes {fastest} cycles instead of {step}")
        return program, starts

    @cache
    def cycles(tiling: Tiling) -> tuple[bool, float]:
        """Whether there is no room for it; cycles, or else rows."""
        try:
            program, starts = emit(tiling, 0)
        except UnlikeStripsError:
            return True, math.inf
        beyond = program.rows > config.program_rows
        return beyond, program.rows if beyond else program.step_cycles(starts)

    strips = max(len(rows.strips) for rows in vertices)
    parts = max(len(rows.blocks()) for rows in vertices)
    tiling = PLAIN if parts == 1 else Tiling(sweep=SWEEPS[-1])
    looped, least = tiling, (True, math.inf)
    if loops and (strips > _MANY or (strips > 1 and trials)):
        looped, least = min(((one, cycles(one)) for one in LOOPED), key=lambda found: found[1])
    if parts > 1 and trials and (strips <= _MANY or least[0]):
        tiling = min((Tiling(sweep=sweep) for sweep in SWEEPS), key=cycles)
        tiling = min((tiling, replace(tiling, backward_strips=False)), key=cycles)
    if not least[0] and (strips > _MANY or least < cycles(tiling)):
        return emit(looped, trials)
    program, starts = emit(tiling, trials)
    if program.rows > config.program_rows:
        program, starts = emit(replace(tiling, turns=False), trials)
    if program.rows > max(config.program_rows, least[1]):
        return emit(looped, trials)
    return program, starts
