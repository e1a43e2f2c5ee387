"""Which tensors have one exponent: those that are added up, or are parts of one matrix."""

import re

__all__ = ["slot"]

_NAME = re.compile(r"(W|R|I|S|dS|H|dM|dC)(\d+)(?:\.\d+)?(\.eval)?")
#: By kind of tensor. Weights of a layer multiply one matrix, and their products are added.
_SAME = {"W": "W", "R": "W", "I": "W", "S": "T", "dS": "dM", "H": "H", "dM": "dM", "dC": "dC"}
#: Of all layers: what the last layer takes side by side, and the gradients that are added to those
#: that come from it.
_JUMPING = {"H": "H", "dM": "dM", "dS": "dM", "dC": "dM"}


def slot(name: str, *, jumping: bool = False) -> str:
    """The exponent file's entry of a tensor.

    Parameters
    ----------
    name : str
        As in ``fixed_gcn``.
    jumping : bool
        Whether the last layer has the outputs of several others as its inputs.
    """
    match = _NAME.fullmatch(name)
    if not match:
        return name
    kind, number, suffix = match[1], match[2], match[3] or ""
    if jumping and kind in _JUMPING:
        return _JUMPING[kind] + suffix
    return f"{_SAME[kind]}{number}{suffix}"
