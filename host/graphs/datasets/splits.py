# SPDX-License-Identifier: BSD-2-Clause
"""Splits for data sets that come without."""

import contextlib
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from hypercast.host.graphs.graph_checks import checked_labels
from hypercast.host.graphs.graph_error import GraphError
from hypercast.reference.array_types import IntArray
from hypercast.rtl.plain_value import plain_float, plain_int

__all__ = ["Splits", "random_split", "split_per_class"]


class Splits(TypedDict):
    """Sorted numbers of the vertices in each split."""

    train: IntArray
    validation: IntArray
    test: IntArray


def random_split(labels: npt.ArrayLike, *, train: float = 0.6, validation: float = 0.2,
                 seed: int = 0) -> Splits:
    """Random vertices, whatever their class, to train and validate on; the others are for testing.

    Parameters
    ----------
    labels : (V,) array of int or (V, C) array
        Classes; vertices with -1 are in no split.
    train, validation : float
        Shares of the vertices that have a label.
    seed : int
        Seed of the random choice.

    Returns
    -------
    dict
        Sorted vertex numbers by ``"train"``, ``"validation"``, ``"test"``.

    Raises
    ------
    GraphError
        If the shares are not between 0 and 1, or are more than 1 together; or the seed is negative.
    """
    seed = _whole("seed", seed)
    train, validation = _share("train", train), _share("validation", validation)
    if not (min(train, validation) >= 0 and train + validation <= 1 + 1e-9):
        raise GraphError(f"shares of {train} to train and {validation} to validate on are not at "
                         f"least 0, and at most 1 together; give such, as 0.6 and 0.2")
    checked = checked_labels(labels)
    known = np.flatnonzero(checked >= 0) if checked.ndim == 1 else np.arange(len(checked))
    order = np.random.default_rng(seed).permutation(known)
    ends = np.rint(np.cumsum([train, validation]) * len(known)).astype(np.int64)
    chosen = [np.sort(part) for part in np.split(order, ends)]
    return Splits(train=chosen[0], validation=chosen[1], test=chosen[2])


def split_per_class(labels: npt.ArrayLike, *, train: int, validation: int,
                    seed: int) -> Splits:
    """Random vertices of each class to train and validate on; all others are for testing.

    (Shchur et al., Pitfalls of Graph Neural Network Evaluation, 2018.)

    Parameters
    ----------
    labels : (V,) array of int
        Classes; vertices with -1 are in no split.
    train, validation : int
        Vertices per class. Of a small class at most half are for training, and at most half of
        the others for validation.
    seed : int
        Seed of the random choice.

    Returns
    -------
    dict
        Sorted vertex numbers by ``"train"``, ``"validation"``, ``"test"``.

    Raises
    ------
    GraphError
        If vertices have several labels, or none has one, or a number is negative.
    """
    seed = _whole("seed", seed)
    train, validation = _whole("train", train), _whole("validation", validation)
    generator = np.random.default_rng(seed)
    classes = checked_labels(labels)
    if classes.ndim != 1:
        raise GraphError(f"labels of shape {classes.shape} are not a class per vertex; use "
                         f"random_split")
    if classes.max(initial=-1) < 0:
        raise GraphError("no vertex has a label; give some a class from 0")
    parts: tuple[list[IntArray], ...] = ([], [], [])
    for label in np.unique(classes[classes >= 0]):
        members = generator.permutation(np.flatnonzero(classes == label))
        first = min(train, -(-len(members) // 2))
        second = first + min(validation, (len(members) - first) // 2)
        for chosen, part in zip(parts, np.split(members, [first, second]), strict=True):
            chosen.append(part)
    train_part, validation_part, test_part = (np.sort(np.concatenate(chosen)) for chosen in parts)
    return Splits(train=train_part, validation=validation_part, test=test_part)


def _share(name: str, value: float) -> float:
    try:
        return plain_float(value)
    except TypeError:
        raise GraphError(f"{name} must be a number, the share of the vertices, not "
                         f"{value!r}") from None


def _whole(name: str, value: int) -> int:
    with contextlib.suppress(TypeError):
        if (found := plain_int(value)) >= 0:
            return found
    raise GraphError(f"{name} must be a whole number, at least 0, not {value!r}")
