"""Names of the tensors of a training step, as in ``reference.fixed_gcn``, and what they tell."""

import re

__all__ = ["level", "of_training"]

_NAME = re.compile(r"(d?[HMSTZ]|dC|mask)(\d+)(\.eval|\.next)?")


def of_training(name: str) -> str:
    """The training step's tensor that one of an evaluation, or of the next batch, is like."""
    return name.removesuffix(".eval").removesuffix(".next")


def level(name: str) -> int:
    """Number of the layer whose output's vertices a matrix has rows of; 0 for those of the input.

    T, S and dT are combined, but not aggregated yet, or no more: they have rows of the layer's
    input.
    """
    if name == "X":
        return 0
    match = _NAME.fullmatch(name)
    if not match:
        raise ValueError(f"{name} is no matrix of a training step")
    number = int(match[2])
    return number - 1 if match[1] in ("T", "S", "dT") else number
