"""Training recipes that were found to work with SGD and momentum."""

import math

from hypercast.reference.network import Recipe

__all__ = ["SCHEDULES", "recipe_for"]

#: Shapes of the learning rate over the epochs.
SCHEDULES = ("constant", "cosine")
#: Fraction of the epochs over which a cosine schedule warms up.
WARM_UP = 0.1


def _cosine(epochs):
    """Linear warm-up, then half a cosine down to zero: (epoch, factor) for every epoch."""
    warm = max(1, round(WARM_UP * epochs))
    return tuple(
        (epoch, (epoch + 1) / warm if epoch < warm
         else 0.5 * (1 + math.cos(math.pi * (epoch - warm) / (epochs - warm))))
        for epoch in range(epochs))


def recipe_for(graph, *, epochs, learning_rate=None, bias_learning_rate=None, weight_decay=None,
               schedule="cosine", **fields):
    """A recipe for a graph; what is not given is chosen by the features.

    Rows of features that sum to one have entries of about one over the number of features
    present, so that first-layer gradients are smaller by that number, and need a larger rate: 16
    for Cora's 18 words a paper, against 0.5 for all other parameters.

    Parameters
    ----------
    graph : Graph
        What is trained on.
    epochs : int
        Training steps.
    learning_rate, bias_learning_rate, weight_decay : tuple of float, optional
        One per layer, the last one for all beyond.
    schedule : str
        One of ``SCHEDULES``.
    **fields
        Other fields of ``Recipe``.
    """
    present = (graph.features != 0).sum() / graph.vertices
    fields.setdefault("headroom", 1 if fields.get("element_width", 16) == 16 else 0)
    return Recipe(
        epochs=epochs, learning_rates=learning_rate or (min(16.0, max(0.5, 0.9 * present)), 0.5),
        bias_learning_rates=bias_learning_rate or (1 / 32, 0.5),
        weight_decays=weight_decay or (2**-11, 0.0),
        schedule=_cosine(epochs) if schedule == "cosine" else (), normalise_features=True,
        **fields)
