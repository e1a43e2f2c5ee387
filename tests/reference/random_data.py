# SPDX-License-Identifier: BSD-2-Clause
"""Random graphs and small networks for tests of the references."""

import numpy as np
import scipy.sparse

from hypercast.reference.models import model_network
from hypercast.reference.network import (
    AGGREGATE_FIRST,
    COMBINE_FIRST,
    LINEAR,
    ROOT_IDENTITY,
    ROOT_WEIGHTS,
    Layer,
    Network,
)
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY

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


def several(arguments, classes=3, seed=0):
    """The same with several labels per vertex."""
    adjacency, features, labels, splits = arguments
    more = np.random.default_rng(seed).random((len(labels), classes)) < 0.3
    return adjacency, features, (labels[:, None] == np.arange(classes)) | more, splits


def labelled(arguments, loss):
    """``data`` with the labels that a loss takes."""
    return several(arguments) if loss == BINARY_CROSS_ENTROPY else arguments


def network(widths=(12, 8, 3), dropout=0.4, orders=ORDERS[0]):
    """Convolutions with the same dropout everywhere."""
    return Network.of_widths(widths, dropout=dropout, orders=orders)


def everything(dropout):
    """All kinds of layers; the last one also takes what each kind of others has as its input."""
    kinds = [(12, 7, COMBINE_FIRST, ROOT_WEIGHTS), (7, 7, COMBINE_FIRST, ROOT_IDENTITY),
             (7, 5, AGGREGATE_FIRST, None), (5, 4, LINEAR, None), (4, 6, COMBINE_FIRST, None),
             (6, 5, LINEAR, None), (5 + 4 + 6 + 5 + 7 + 7, 3, LINEAR, None)]
    return Network(jumping=(1, 2, 3, 4, 5, 6), layers=tuple(
        Layer(features_in=features_in, features_out=features_out, order=order, root=root,
              dropout=dropout) for features_in, features_out, order, root in kinds))


def branches(dropout):
    """Layers of all kinds that read the same outputs; some of these go to the last layer, too."""
    kinds = [(12, 6, COMBINE_FIRST, None, None), (6, 6, COMBINE_FIRST, ROOT_IDENTITY, 1),
             (6, 5, AGGREGATE_FIRST, None, 1), (5, 4, LINEAR, None, 3), (6, 4, LINEAR, None, 1),
             (6, 6, COMBINE_FIRST, ROOT_WEIGHTS, 2), (6, 5, COMBINE_FIRST, None, 2),
             (6, 4, COMBINE_FIRST, ROOT_WEIGHTS, 1),
             (6 + 6 + 4 + 4 + 6 + 5 + 4, 3, LINEAR, None, None)]
    return Network(jumping=(1, 2, 4, 5, 6, 7, 8), layers=tuple(
        Layer(features_in=features_in, features_out=features_out, order=order, root=root,
              dropout=dropout, source=source)
        for features_in, features_out, order, root, source in kinds))


#: Networks of more than convolutions, for ``data``.
OTHERS = {
    "sage": model_network("sage", 12, (8,), 3, dropout=0.4),
    "gin": model_network("gin", 12, (8,), 3, dropout=0.4),
    "linear layers with dropout": Network(layers=(
        Layer(features_in=12, features_out=8, order=LINEAR, dropout=0.5),
        Layer(features_in=8, features_out=6, order=AGGREGATE_FIRST, dropout=0.3),
        Layer(features_in=6, features_out=3, order=LINEAR, dropout=0.75))),
    "residual": model_network("gcn", 12, (8, 8), 3, dropout=0.4, residual=True),
    "jumping": model_network("gcn", 12, (8, 5), 3, dropout=0.5, jumping=True),
    "gcnii": model_network("gcnii", 12, (8, 8, 8), 3, dropout=0.5, alpha=0.2, theta=0.8),
    "mixhop": model_network("mixhop", 12, (8, 5, 4, 6), 3, dropout=0.5),
    "sign": model_network("sign", 12, (6, 5, 7), 3, dropout=0.5),
    "branches": branches(0.5),
    "everything": everything(0.5),
    "everything, no dropout": everything(0.0),
}
