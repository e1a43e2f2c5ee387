# SPDX-License-Identifier: BSD-2-Clause
"""Tensors that have one exponent: they are added up, or are parts of one matrix."""

from hypercast.reference.tensor import Kind, Tensor

__all__ = ["SUMMANDS", "exponent_entry"]

#: Gradients that may be added to others of the same features. With branches, the gradients of one
#: layer's outputs have one exponent.
SUMMANDS = frozenset((Kind.AGGREGATED_GRADIENT, Kind.ROOT_GRADIENT, Kind.JUMPING_GRADIENT,
                      Kind.PARTIAL_GRADIENT))

#: Kinds that have the exponent of another kind. Weights of a layer multiply one matrix, and their
#: products are added.
_SAME = {
    Kind.ROOT_WEIGHTS: Kind.WEIGHTS, Kind.IDENTITY: Kind.WEIGHTS, Kind.ROOT: Kind.COMBINED,
    Kind.ROOT_GRADIENT: Kind.AGGREGATED_GRADIENT}
#: Of all layers: the features that the last layer takes side by side, and the gradients that are
#: added to the last layer's gradients of them.
_JUMPING = {
    Kind.HIDDEN: Kind.HIDDEN, Kind.AGGREGATED_GRADIENT: Kind.AGGREGATED_GRADIENT,
    Kind.ROOT_GRADIENT: Kind.AGGREGATED_GRADIENT, Kind.JUMPING_GRADIENT: Kind.AGGREGATED_GRADIENT}
#: Of all layers: the gradients of the first one's outputs that are added up.
_INITIAL = {
    Kind.AGGREGATED_GRADIENT: Kind.AGGREGATED_GRADIENT,
    Kind.ROOT_GRADIENT: Kind.AGGREGATED_GRADIENT, Kind.PARTIAL_GRADIENT: Kind.AGGREGATED_GRADIENT}


def exponent_entry(tensor: Tensor, *, jumping: bool = False, initial: bool = False) -> Tensor:
    """The exponent file's entry of a tensor.

    Parameters
    ----------
    tensor : Tensor
        The tensor that has an exponent.
    jumping : bool
        Whether the last layer has the outputs of several others as its inputs.
    initial : bool
        Whether layers beyond the second one add the outputs of the first.
    """
    common = _JUMPING if jumping else _INITIAL if initial else {}
    if tensor.kind in common:
        return Tensor(common[tensor.kind], during=tensor.during)
    kind = _SAME.get(tensor.kind, tensor.kind)
    if kind == tensor.kind and not tensor.source:
        return tensor
    return Tensor(kind, tensor.layer, tensor.during)
