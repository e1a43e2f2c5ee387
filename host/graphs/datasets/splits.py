"""Splits for data sets that come without."""

import numpy as np

from hypercast.host.graphs.graph_checks import GraphError

__all__ = ["random_split", "split_per_class"]

_NAMES = ("train", "validation", "test")


def random_split(labels, *, train=0.6, validation=0.2, seed=0):
    """Random vertices, whatever their class, to train and validate on; the others are for testing.

    Parameters
    ----------
    labels : (V,) array of int or (V, C) array
        Classes; vertices with -1 are in no split.
    train, validation : float
        Shares of the vertices that have a label.
    seed : int
        Of the random choice.

    Returns
    -------
    dict
        Sorted vertex numbers by ``"train"``, ``"validation"``, ``"test"``.

    Raises
    ------
    GraphError
        If the shares are not between 0 and 1, or are more than 1 together.
    """
    if min(train, validation) < 0 or train + validation > 1 + 1e-9:
        raise GraphError(f"shares of {train} to train and {validation} to validate on are not at "
                         f"least 0, and at most 1 together")
    labels = np.asarray(labels)
    known = np.flatnonzero(labels >= 0) if labels.ndim == 1 else np.arange(len(labels))
    order = np.random.default_rng(seed).permutation(known)
    ends = np.rint(np.cumsum([train, validation]) * len(known)).astype(np.int64)
    return {name: np.sort(part)
            for name, part in zip(_NAMES, np.split(order, ends), strict=True)}


def split_per_class(labels, *, train, validation, seed):
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
        Of the random choice.

    Returns
    -------
    dict
        Sorted vertex numbers by ``"train"``, ``"validation"``, ``"test"``.

    Raises
    ------
    GraphError
        If vertices have several labels.
    """
    generator = np.random.default_rng(seed)
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise GraphError(f"labels of shape {labels.shape} are not a class per vertex; use "
                         f"random_split")
    parts = {name: [] for name in _NAMES}
    for label in np.unique(labels[labels >= 0]):
        members = generator.permutation(np.flatnonzero(labels == label))
        first = min(train, -(-len(members) // 2))
        second = first + min(validation, (len(members) - first) // 2)
        for name, part in zip(parts, np.split(members, [first, second]), strict=True):
            parts[name].append(part)
    return {name: np.sort(np.concatenate(chosen)) for name, chosen in parts.items()}
