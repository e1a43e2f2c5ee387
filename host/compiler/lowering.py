"""Emits the program of a network: a training step, and an evaluation.

Tensors are those of ``reference.fixed_passes``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Self, Unpack

from hypercast.host.compiler.emitter import Emitter, Finish, PlacedMessages
from hypercast.host.compiler.gradient_emitter import GradientEmitter
from hypercast.host.compiler.layout import SUMS, Layout
from hypercast.host.compiler.operand_map import Parts
from hypercast.host.compiler.phase_name import PhaseKind, PhaseName
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.vertices import Vertices
from hypercast.reference.dropout import Dropout
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR, Network, Weight
from hypercast.reference.tensor import FEATURES, ONE, Kind, Pass, Tensor
from hypercast.rtl.registers import PHASES

__all__ = ["Program", "fitting"]

#: Kinds of phases that are of layers, and phases that are of all of them: loss, evaluation and the
#: end of the update.
_OF_LAYERS, _WHOLE = 3, 3


@dataclass
class Program:
    """Emits instructions for one network.

    Parameters
    ----------
    network : Network
        What is trained.
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
    """

    network: Network
    emitter: Emitter
    gradient_emitter: GradientEmitter
    ahead: bool = False
    phases: list[PhaseName] = field(default_factory=list)

    @classmethod
    def of(cls, layout: Layout, *, inputs: Parts, tensors: Mapping[Tensor, int],
           messages: Mapping[tuple[int, bool], Sequence[PlacedMessages]],
           roots: Mapping[tuple[int, bool], Sequence[PlacedMessages]],
           digits: Mapping[Tensor, int], headroom: Callable[[Tensor], int], schedule: Schedule,
           following: Sequence[Vertices], turns: bool = True) -> Self:
        """A program on a ``Layout`` with the input features placed; nothing is emitted yet.

        Parameters
        ----------
        layout : Layout
            Where everything lies.
        digits : dict
            As in ``GradientEmitter``; as many as an accumulator has where it says nothing.
        inputs, tensors, messages, roots, headroom, schedule, following, turns
            As in ``Layout.emitter``.
        """
        emitter = layout.emitter(
            inputs=inputs, tensors=tensors, messages=messages, roots=roots, headroom=headroom,
            schedule=schedule, following=following, turns=turns)
        every = dict.fromkeys(layout.weights, layout.config.digits) | dict(digits)
        return cls(network=layout.network, emitter=emitter, ahead=layout.ahead,
                   gradient_emitter=GradientEmitter(emitter=emitter, digits=every))

    @property
    def rows(self) -> int:
        """How many instructions there are."""
        return len(self.emitter.schedule.issued)

    def emit(self, names: Iterable[str]) -> dict[str, int]:
        """Emit these of the methods below, one after the other.

        Returns
        -------
        dict
            Name to its first instruction, of those that have any.
        """
        entries = {}
        for name in names:
            row = self.rows
            getattr(self, name)()
            if row < self.rows:
                entries[name] = row
        return entries

    def load(self) -> bool:
        """What runs once, before all else; False if there is nothing to do."""
        order = self.network.layers[0].order
        if order == AGGREGATE_FIRST:
            return False
        phase = self._phase(PhaseKind.FORWARD, 1)
        result = Tensor(Kind.COMBINED, 1) if order == COMBINE_FIRST else self._output(1)
        loaded = self.emitter.load(phase, FEATURES, Tensor(Kind.WEIGHTS, 1),
                                   result.made(Pass.EVALUATION))
        if loaded:
            self.emitter.halt(phase=phase, step=0)
        return loaded

    def aggregate_ahead(self) -> bool:
        """What runs before a step that none has worked ahead for; False if none does."""
        if self.ahead:
            self._aggregate_features(self._phase(PhaseKind.FORWARD, 1), Pass.NEXT)
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
        training, layer = during == Pass.TRAINING, self.network.layers[number - 1]
        phase = (self._phase(PhaseKind.FORWARD, number) if training
                 else self._phase(PhaseKind.EVALUATE))
        last = number == len(self.network.layers)
        result = self._output(number, during)
        dropout = self.network.dropouts[number - 1] if training else None
        finish: Finish = {"bias": Tensor(Kind.BIAS, number), "relu": not last}
        if training and not last:
            finish |= self._dropped(number)
        if layer.order == AGGREGATE_FIRST:
            middle = Tensor(Kind.AGGREGATED, number, during)
            if number == 1:
                self._aggregate_features(phase, Pass.NEXT if training and self.ahead else during)
            else:
                self._sum(phase, self._output(self.network.source(number), during), number, middle,
                          scale=dropout)
            yield middle
            self.emitter.combine(phase, middle, Tensor(Kind.WEIGHTS, number), result, **finish)
            yield result
            return
        feed = self._feed() if training and number == 1 else None
        (source, name), *others = [
            (self._output(weight.source, during), weight.name)
            for weight in self.network.weights(number)]
        if layer.order == LINEAR:
            finish["scale"] = dropout
            self.emitter.combine(phase, source, name, result, also=others, feed=feed, **finish)
            yield result
            return
        middle = Tensor(Kind.COMBINED, number, during)
        roots = [Tensor(Kind.ROOT, number, during)][:len(others)]
        self.emitter.combine(phase, source, name, middle, scale=dropout, feed=feed)
        yield middle
        for root, factors in zip(roots, others, strict=True):
            self.emitter.combine(phase, *factors, root, scale=dropout, feed=feed)
            yield root
        self._sum(phase, middle, number, result, roots=roots, **finish)
        yield result

    # What differs where devices share the rows of matrices.

    def _sum(self, phase: int, source: Tensor, number: int, result: Tensor, *,
             backward: bool = False, linear: bool = False, roots: Iterable[Tensor] = (),
             **finish: Unpack[Finish]) -> None:
        """A sum over neighbours with a layer's edges, as ``Emitter.aggregate``."""
        self.emitter.aggregate(phase, source, number, result, backward=backward, linear=linear,
                               roots=roots, **finish)

    def _dropped(self, number: int) -> Finish:
        """What becomes of a layer's outputs in training: dropout, and the mask of what is left."""
        return {"mask_write": Tensor(Kind.MASK, number),
                "dropout": self.network.output_dropout(number)}

    def _feed(self) -> Dropout | None:
        """Dropout on input features where they are read."""
        return self.network.dropouts[0]

    def _aggregate_features(self, phase: int, during: Pass) -> None:
        """The first layer's sums, if it aggregates first; its input has no dropout then."""
        self.emitter.aggregate(phase, FEATURES, 1, SUMS.made(during))

    def _loss(self) -> None:
        last = len(self.network.layers)
        self.emitter.loss(self._phase(PhaseKind.LOSS), Tensor(Kind.LOGITS, last),
                          Tensor(Kind.GRADIENT, last), self.network.classes, train=True)

    def _backward(self, number: int) -> None:
        """The gradients of a layer's inputs and parameters."""
        self._input_gradient(number)
        phase = self._phase(PhaseKind.UPDATE, number)
        self.gradient_emitter.gradients(phase, number, {
            weight.name: self._factors(number, weight)
            for weight in self.network.weights(number)})

    def _keep(self, number: int) -> None:
        """Keep the sums of a layer's gradients, which have been reduced."""
        for name in (Tensor(Kind.BIAS, number),
                     *(weight.name for weight in self.network.weights(number))):
            self.gradient_emitter.keep(self._phase(PhaseKind.UPDATE, number), name)

    def _update(self, number: int) -> None:
        """Update a layer's parameters."""
        phase = self._phase(PhaseKind.UPDATE, number)
        self.gradient_emitter.update(phase, Tensor(Kind.BIAS, number), ONE,
                                     Tensor(Kind.GRADIENT, number))
        for weight in self.network.weights(number):
            self.gradient_emitter.update(phase, weight.name, *self._factors(number, weight)[:2])

    def _input_gradient(self, number: int) -> None:
        layer, weights = self.network.layers[number - 1], self.network.weights(number)
        phase = self._phase(PhaseKind.BACKWARD, number)
        gradient = Tensor(Kind.GRADIENT, number)
        combine = partial(self.emitter.combine, phase, gradient, transposed=True)
        if layer.order == COMBINE_FIRST:
            self._sum(phase, gradient, number, Tensor(Kind.COMBINED_GRADIENT, number),
                      backward=True)
        if number == 1:
            return
        if self.network.jumping and number == len(self.network.layers):
            for name, source, _ in weights:
                if source in self.network.jumped:
                    combine(name, Tensor(Kind.JUMPING_GRADIENT, source))
                else:
                    combine(name, Tensor(Kind.GRADIENT, source), **self._masked(source))
            return
        initial = self.network.added_initial(number)
        if number in self.network.initial:
            product = Tensor(Kind.ROOT_GRADIENT, number)
            combine(weights[-1].name, product)
            if initial:
                self._sum(phase, initial, number, Tensor(Kind.PARTIAL_GRADIENT, number),
                          backward=True, linear=True, roots=[product])
        source = self.network.source(number)
        result, finish = Tensor(Kind.PARTIAL_GRADIENT, number), Finish()
        if self.network.finishes(number):
            result, finish = Tensor(Kind.GRADIENT, source), self._masked(source)
        if not self.network.sums_gradients(number):
            combined = layer.order == COMBINE_FIRST
            factor = Tensor(Kind.COMBINED_GRADIENT, number) if combined else gradient
            self.emitter.combine(phase, factor, weights[0].name, result, transposed=True, **finish)
            return
        added = self.network.added_gradient(number)
        roots = [added] if added else []
        aggregated = Tensor(Kind.AGGREGATED_GRADIENT, number)
        combine(weights[0].name, aggregated)
        if initial:
            roots.append(initial)
        if layer.root:
            roots.append(Tensor(Kind.ROOT_GRADIENT, number))
            combine(weights[1].name, roots[-1])
        self._sum(phase, aggregated, number, result, backward=True,
                  linear=layer.order == LINEAR, roots=roots, **finish)

    def _masked(self, number: int) -> Finish:
        """What becomes of the gradient of a layer's outputs: that of its sums."""
        return {"scale": self.network.output_dropout(number),
                "mask_read": Tensor(Kind.MASK, number)}

    def _output(self, number: int, during: Pass = Pass.TRAINING) -> Tensor:
        """A layer's output; of layer 0, the input features."""
        if number == 0:
            return FEATURES
        hidden = number < len(self.network.layers)
        return Tensor(Kind.HIDDEN if hidden else Kind.LOGITS, number, during)

    def _factors(self, number: int, weight: Weight) -> tuple[Tensor, Tensor, Dropout | None]:
        """What the gradient of weights is the product of, and dropout on the first."""
        order = self.network.layers[number - 1].order
        if order == AGGREGATE_FIRST:
            return Tensor(Kind.AGGREGATED, number), Tensor(Kind.GRADIENT, number), None
        combined = order == COMBINE_FIRST and not weight.root
        right = Tensor(Kind.COMBINED_GRADIENT if combined else Kind.GRADIENT, number)
        return (self._output(weight.source), right,
                None if weight.source else self._feed())

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


def fitting(made: Callable[[bool], Program], emitted: Callable[[Program], dict[str, int]],
            rows: int) -> tuple[Program, dict[str, int]]:
    """A program of at most ``rows`` instructions, if there is one, and its entries.

    Operands that take turns (``Operands``) take more instructions, so they do only where there is
    room.

    Parameters
    ----------
    made : callable
        Gives an empty program, whose operands may take turns or not.
    emitted : callable
        Emits it, and gives the entries.
    rows : int
        Instructions that there is room for.
    """
    program = made(True)
    entries = emitted(program)
    if program.rows > rows:
        program = made(False)
        entries = emitted(program)
    return program, entries
