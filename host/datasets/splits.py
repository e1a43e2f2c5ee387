"""Splits for data sets that come without."""

import numpy as np

__all__ = ["split_per_class"]


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
    """
    generator = np.random.default_rng(seed)
    labels = np.asarray(labels)
    parts = {"train": [], "validation": [], "test": []}
    for label in np.unique(labels[labels >= 0]):
        members = generator.permutation(np.flatnonzero(labels == label))
        first = min(train, -(-len(members) // 2))
        second = first + min(validation, (len(members) - first) // 2)
        for name, part in zip(parts, np.split(members, [first, second]), strict=True):
            parts[name].append(part)
    return {name: np.sort(np.concatenate(chosen)) for name, chosen in parts.items()}
