# SPDX-License-Identifier: BSD-2-Clause
"""Data sets that are made on the spot."""

import numpy as np
import scipy.sparse

from hypercast.host.graphs.datasets.splits import random_split, split_per_class
from hypercast.host.graphs.graph_arguments import GraphArguments, graph_arguments

__all__ = ["blocks", "communities", "karate"]


def karate() -> GraphArguments:
    """Zachary's karate club: 34 members, two factions, no features but who is who.

    Trained on the two leaders and one member of each faction, validated on four members of each.
    (Zachary, An information flow model for conflict and fission in small groups, 1977.)
    """
    import networkx  # here, since nothing else that trains needs its 285 modules

    club = networkx.karate_club_graph()
    labels = [int(faction == "Officer") for _, faction in club.nodes(data="club")]
    train, validation = [0, 4, 24, 33], [2, 6, 10, 12, 14, 20, 26, 28]
    test = np.setdiff1d(np.arange(len(labels)), train + validation)
    features = scipy.sparse.eye_array(len(labels), format="csr")
    return graph_arguments(np.array(club.edges), features, labels, train=train,
                           validation=validation, test=test)


def blocks(*, vertices: int = 256, classes: int = 4, features: int = 32, degree: float = 8.0,
           mixing: float = 0.25, noise: float = 0.1, seed: int = 0) -> GraphArguments:
    """A stochastic block model: vertices of a class prefer each other and share features.

    Parameters
    ----------
    vertices, classes, features : int
        Sizes; vertex v is of class ``v % classes``.
    degree : float
        Mean number of neighbours.
    mixing : float
        Fraction of them that is of another class.
    noise : float
        Probability with which a feature that does not belong to the class is set. A feature that
        does (every ``classes``-th) is set three times as often.
    seed : int
        Seed of all random choices.

    Returns
    -------
    GraphArguments
        With binary features, eight training vertices and eight for validation per class.
    """
    generator = np.random.default_rng(seed)
    labels = np.arange(vertices) % classes
    same = labels[:, None] == labels[None, :]
    inside = int(np.count_nonzero(same)) - vertices
    outside = vertices * vertices - int(np.count_nonzero(same))
    chance = np.where(same, degree * (1 - mixing) * vertices / max(inside, 1),
                      degree * mixing * vertices / max(outside, 1))
    drawn = np.triu(generator.random((vertices, vertices)) < chance, 1)
    own = labels[:, None] == np.arange(features)[None, :] % classes
    present = generator.random((vertices, features)) < np.where(own, 3 * noise, noise)
    parts = split_per_class(labels, train=8, validation=8, seed=seed)
    return graph_arguments(np.argwhere(drawn), present, labels, **parts)


def communities(*, vertices: int = 512, classes: int = 5, features: int = 40,
                degree: float = 16.0, share: float = 0.3, mixing: float = 0.2,
                noise: float = 0.1, seed: int = 0) -> GraphArguments:
    """Overlapping communities: vertices prefer those they share many with; a multi-label graph.

    Parameters
    ----------
    vertices, classes, features : int
        Sizes; a class is a community.
    degree : float
        Mean number of neighbours.
    share : float
        Probability with which a vertex belongs to a community; it may belong to none.
    mixing : float
        Fraction of the neighbours that are chosen whatever they belong to.
    noise : float
        Probability with which a feature is set; four times that if it belongs to a community (every
        ``classes``-th does) that the vertex belongs to.
    seed : int
        Seed of all random choices.

    Returns
    -------
    GraphArguments
        With binary features; 40 % of the vertices are to train on, 20 % for validation.
    """
    generator = np.random.default_rng(seed)
    labels = generator.random((vertices, classes)) < share
    shared = labels.astype(np.float64) @ labels.T
    np.fill_diagonal(shared, 0)
    chance = degree * ((1 - mixing) * vertices * shared / max(shared.sum(), 1)
                       + mixing / vertices)
    drawn = np.triu(generator.random((vertices, vertices)) < chance, 1)
    own = labels[:, np.arange(features) % classes]
    present = generator.random((vertices, features)) < np.where(own, 4 * noise, noise)
    parts = random_split(labels, train=0.4, validation=0.2, seed=seed)
    return graph_arguments(np.argwhere(drawn), present, labels, **parts)
