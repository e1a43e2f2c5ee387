"""Random graphs and small networks for tests of the references."""

import numpy as np
import scipy.sparse

from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Layer, Network

#: Orders of two layers.
ORDERS = [(COMBINE_FIRST, COMBINE_FIRST), (COMBINE_FIRST, AGGREGATE_FIRST)]


def data(vertices=40, features=12, classes=3, seed=0, *, sparse=True):
    """Arguments of a model after network and recipe: a random asymmetric weighted graph."""
    generator = np.random.default_rng(seed)
    adjacency = scipy.sparse.random_array((vertices, vertices), density=0.1, rng=generator)
    adjacency = scipy.sparse.csr_array(adjacency + scipy.sparse.eye_array(vertices)) * 0.4
    labels = generator.integers(classes, size=vertices)
    matrix = (generator.random((vertices, features)) < 0.2) + 0.5 * (
        np.arange(features) % classes == labels[:, None])
    splits = np.arange(vertices) % 4
    return adjacency, scipy.sparse.csr_array(matrix) if sparse else matrix, labels, splits


def network(widths=(12, 8, 3), dropout=0.4, orders=ORDERS[0]):
    """Convolutions with the same dropout everywhere."""
    layers = zip(widths[:-1], widths[1:], orders, strict=True)
    return Network(layers=tuple(
        Layer(features_in=features_in, features_out=features_out, order=order, dropout=dropout)
        for features_in, features_out, order in layers))
