"""Emits the program of a network: a training step, and an evaluation.

Tensor names are those of ``reference.fixed_gcn``.
"""

from dataclasses import dataclass, field

from hypercast.host.emitter import ONE, Emitter
from hypercast.reference.network import COMBINE_FIRST, Network
from hypercast.rtl.registers import PHASES

__all__ = ["Program"]


@dataclass
class Program:
    """Emits instructions for one network.

    Parameters
    ----------
    network : Network
        What is trained.
    emitter : Emitter
        Emits them.
    ahead : bool
        Whether a training step aggregates the next batch's features: a first layer that aggregates
        first finds its own in M1, made in the step before, and leaves those in M1.next.

    Attributes
    ----------
    phases : list of str
        Names of the phase counters.
    """

    network: Network
    emitter: Emitter
    ahead: bool = False
    phases: list = field(default_factory=list)

    def load(self):
        """What runs once, before all else; False if there is nothing to do."""
        if self.network.layers[0].order != COMBINE_FIRST:
            return False
        phase = self._phase("forward 1")
        loaded = self.emitter.load(phase, "X", "W1", "T1.eval")
        if loaded:
            self.emitter.halt(phase=phase, step=0)
        return loaded

    def train(self):
        """A training step: forward, loss, backward, update."""
        last = len(self.network.layers)
        self._forward(suffix="", training=True)
        self.emitter.loss(self._phase("loss"), f"Z{last}", f"dZ{last}", self.network.classes,
                          train=True)
        for number in range(last, 0, -1):
            self._backward(number)
            phase = self._phase(f"update {number}")
            self.emitter.gradients(phase, number, *self._factors(number))
        for number in range(last, 0, -1):
            phase = self._phase(f"update {number}")
            self.emitter.update(phase, f"b{number}", ONE, f"dZ{number}")
            self.emitter.update(phase, f"W{number}", *self._factors(number)[:2])
        self.emitter.halt(phase=self._phase("update"), step=1)

    def evaluate(self):
        """A forward pass without dropout, for its metrics."""
        last = len(self.network.layers)
        self._forward(suffix=".eval", training=False)
        self.emitter.loss(self._phase("evaluate"), f"Z{last}.eval", f"dZ{last}",
                          self.network.classes, train=False)
        self.emitter.halt(phase=self._phase("evaluate"), step=0)

    def _forward(self, suffix, training):
        for number, layer in enumerate(self.network.layers, 1):
            phase = self._phase(f"forward {number}" if training else "evaluate")
            last = number == len(self.network.layers)
            source = "X" if number == 1 else f"H{number - 1}{suffix}"
            result = f"Z{number}{suffix}" if last else f"H{number}{suffix}"
            dropout = self.network.dropouts[number - 1] if training else None
            finish = {"bias": f"b{number}", "relu": not last}
            if training and not last:
                finish["mask_write"] = f"mask{number}"
                finish["dropout"] = self.network.dropouts[number]
            if layer.order == COMBINE_FIRST:
                middle = f"T{number}{suffix}"
                self.emitter.combine(phase, source, f"W{number}", middle, scale=dropout,
                                     feed=dropout if number == 1 else None)
                self.emitter.aggregate(phase, middle, number, result, **finish)
            else:
                middle = f"M{number}{suffix}"
                aggregated = f"{middle}.next" if (
                    training and self.ahead and number == 1) else middle
                self.emitter.aggregate(phase, source, number, aggregated, scale=dropout)
                self.emitter.combine(phase, middle, f"W{number}", result, **finish)

    def _backward(self, number):
        layer = self.network.layers[number - 1]
        phase = self._phase(f"backward {number}")
        gradient, below = f"dZ{number}", f"dZ{number - 1}"
        finish = {"scale": self.network.dropouts[number - 1], "mask_read": f"mask{number - 1}"}
        if layer.order == COMBINE_FIRST:
            middle = f"dT{number}"
            self.emitter.aggregate(phase, gradient, number, middle, backward=True)
            if number > 1:
                self.emitter.combine(phase, middle, f"W{number}", below, transposed=True, **finish)
        elif number > 1:
            middle = f"dM{number}"
            self.emitter.combine(phase, gradient, f"W{number}", middle, transposed=True)
            self.emitter.aggregate(phase, middle, number, below, backward=True, **finish)

    def _factors(self, number):
        """What the gradient of a layer's weights is the product of, and dropout on the first."""
        if self.network.layers[number - 1].order == COMBINE_FIRST:
            return ("X" if number == 1 else f"H{number - 1}", f"dT{number}",
                    self.network.dropouts[0] if number == 1 else None)
        return f"M{number}", f"dZ{number}", None

    def _phase(self, name):
        """Number of a phase's counter; layers share counters if there are not enough."""
        if 3 * len(self.network.layers) + 3 > PHASES:
            name = name.split()[0]
        if name not in self.phases:
            self.phases.append(name)
        return self.phases.index(name)
