# SPDX-License-Identifier: BSD-2-Clause
"""Names of a training's tensors: kind, layer, and the pass that makes the tensor."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from hypercast.errors import InputError

__all__ = ["BACKWARD", "EDGES", "FEATURES", "FORWARD", "ONE", "Kind", "Pass", "Tensor"]


class Kind(StrEnum):
    """Kinds of tensors, each with the letters that its names begin with."""

    EDGES = "A"
    FEATURES = "X"
    ONE = "one"  # the vector of ones that sums a bias gradient
    WEIGHTS = "W"
    ROOT_WEIGHTS = "R"
    IDENTITY = "I"  # of a residual connection
    BIAS = "b"
    COMBINED = "T"  # features times weights
    ROOT = "S"  # the product that is added to the aggregated features
    AGGREGATED = "M"
    HIDDEN = "H"
    LOGITS = "Z"
    MASK = "mask"  # where hidden features were positive and kept
    GRADIENT = "dZ"  # with respect to the sums before ReLU
    COMBINED_GRADIENT = "dT"
    AGGREGATED_GRADIENT = "dM"
    ROOT_GRADIENT = "dS"
    JUMPING_GRADIENT = "dC"  # of hidden features, from the last layer
    PARTIAL_GRADIENT = "dU"  # of features that several layers read, from this layer and later ones


class Pass(StrEnum):
    """The passes that make tensors, each with the end of the tensors' names."""

    TRAINING = ""
    EVALUATION = ".eval"
    NEXT = ".next"  # a training step, of the next batch


#: Kinds of the forward pass that follow the features in size.
FORWARD = frozenset((Kind.COMBINED, Kind.ROOT, Kind.AGGREGATED, Kind.HIDDEN, Kind.LOGITS))
#: Kinds of the backward pass: gradients with respect to features.
BACKWARD = frozenset((Kind.GRADIENT, Kind.COMBINED_GRADIENT, Kind.AGGREGATED_GRADIENT,
                      Kind.ROOT_GRADIENT, Kind.JUMPING_GRADIENT, Kind.PARTIAL_GRADIENT))
#: Kinds that are matrices with a row for each vertex, or their masks.
_OF_VERTICES = FORWARD | BACKWARD | {Kind.FEATURES, Kind.MASK}
#: Kinds of combined features that are not aggregated yet, and of their gradients: they have the
#: rows of their layer's input.
_OF_INPUT = (Kind.COMBINED, Kind.ROOT, Kind.COMBINED_GRADIENT)
#: Kinds that all layers have in common.
_SHARED = (Kind.EDGES, Kind.FEATURES, Kind.ONE)
_NAME = re.compile(
    rf"({'|'.join(Kind)})([1-9]\d*)?(?:\.([1-9]\d*))?({'|'.join(map(re.escape, Pass))})", re.ASCII)


@dataclass(frozen=True, eq=False, repr=False)
class Tensor(str):
    """A tensor, or its entry in the exponent file.

    Like a member of ``StrEnum`` it is text, too: the name by which it is printed, sorted, and
    written to files, such as ``T2.eval``.

    Parameters
    ----------
    kind : Kind What it is. layer : int
        The tensor's layer, from 1; 0 if all layers have it in common.
    during : Pass
        The pass that makes it.
    source : int
        The layer whose outputs weights with jumping knowledge multiply; else 0.
    """

    kind: Kind
    layer: int = 0
    during: Pass = Pass.TRAINING
    source: int = 0

    def __new__(cls, kind: Kind, layer: int = 0, during: Pass = Pass.TRAINING,
                source: int = 0) -> Self:
        return super().__new__(
            cls, f"{kind}{layer or ''}{f'.{source}' if source else ''}{during}")

    # Copies are made of the parts; other strings are copied as text.
    def __getnewargs__(self) -> tuple[Kind, int, Pass, int]:  # type: ignore[override]
        return self.kind, self.layer, self.during, self.source

    @classmethod
    def parse(cls, name: str) -> Self:
        """The tensor of a name that was read.

        Raises
        ------
        InputError
            If there is no such tensor.
        """
        match = _NAME.fullmatch(name)
        if not match:
            raise InputError(f"{name} is no tensor of a training")
        kind, layer, source, during = match.groups()
        return cls(Kind(kind), int(layer or 0), Pass(during), int(source or 0))

    def in_pass(self, during: Pass) -> "Tensor":
        """This tensor as another pass makes it; an evaluation has the same features."""
        shared = during == Pass.EVALUATION and self.kind in _SHARED
        return self if shared else Tensor(self.kind, self.layer, during, self.source)

    @property
    def of_training(self) -> "Tensor":
        """The training step's tensor for a tensor of an evaluation, or of the next batch."""
        return self if self.during == Pass.TRAINING else self.in_pass(Pass.TRAINING)

    @property
    def level(self) -> int:
        """Number of the layer whose output vertices are its rows; 0 for vertices of the input.

        Raises
        ------
        InputError
            If it has no rows of vertices.
        """
        if self.kind not in _OF_VERTICES or (self.kind != Kind.FEATURES and not self.layer):
            raise InputError(f"{self} is no matrix of a training step")
        return self.layer - 1 if self.kind in _OF_INPUT else self.layer


#: Edge weights (of layer 1), input features, and the vector of ones that sums a bias gradient.
EDGES, FEATURES, ONE = map(Tensor, _SHARED)
