# SPDX-License-Identifier: BSD-2-Clause
"""Samples of a training: as large as what is drawn, the same each time, some of an epoch."""

import numpy as np
import pytest

from hypercast.errors import InputError
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.graph import Graph
from hypercast.host.schemes import sample_source
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe

VERTICES, BATCH, WALK = 600, 8, 12
NETWORK = Network.of_widths([2, 3, 2])


def ring():
    """A ring, of which all vertices are trained on."""
    number = np.arange(VERTICES)
    return Graph.from_edges(np.stack([number, (number + 1) % VERTICES], 1),
                            np.ones((VERTICES, 2)), number % 2, train=number >= 0,
                            validation=number < 0, test=number < 0)


def source(sampler, **fields):
    return SampleSource(ring(), NETWORK, Recipe(), Sampling(
        sampler=sampler, **{"batch": BATCH, "coverage": 2.0, **fields}))


@pytest.mark.parametrize(("sampler", "fields", "least", "most"), [
    ("nodes", {}, 1, BATCH), ("edges", {}, BATCH + 1, 2 * BATCH),
    ("walks", {"walk": WALK}, 2 * BATCH + 1, (WALK + 1) * BATCH)])
def test_subgraphs_are_as_large_as_what_is_drawn(sampler, fields, least, most):
    """On a ring, where few of what is drawn meet: its nodes, both ends of edges, whole walks."""
    samples = source(sampler, **fields)
    sizes = [sample.rows[0] for sample in samples.epoch(0)]
    assert least <= np.median(sizes) and max(sizes) <= most


@pytest.mark.parametrize("sampler", ["edges", "neighbours"])
def test_some_of_an_epoch_are_those_of_the_whole(sampler):
    fields = {"fan_outs": (2,), "coverage": None} if sampler == "neighbours" else {}
    samples, other = source(sampler, **fields), source(sampler, **fields)

    def contents(found):
        return [[matrix.toarray().tolist() for matrix in sample.edges] for sample in found]

    whole = contents(samples.epoch(1))
    assert len(whole) == len(samples) and contents(other.epoch(1)) == whole
    assert contents(samples.epoch(1, [5, 2])) == [whole[5], whole[2]]
    assert contents(samples.epoch(0))[:1] == contents([samples.first])
    assert contents(samples.epoch(0)) != whole


def test_capacity_holds_the_first_samples():
    samples = source("walks", walk=WALK)
    first = [*samples.epoch(0)][:8]
    assert samples.capacity() == Capacity.of(first) != Capacity.of(first[1:2])


def test_a_batch_has_no_more_neighbours_than_there_are():
    """The last fan-out holds for all convolutions beyond."""
    samples = source("neighbours", batch=VERTICES + 1, fan_outs=(1,), coverage=None)
    assert len(samples) == 1
    for matrix in samples.first.edges:
        assert np.diff(matrix.indptr).max() == 2  # a neighbour, and itself


def test_samples_that_leave_most_out_are_refused():
    with pytest.raises(InputError, match="samples of edges reach only "):
        source("edges", coverage=1e-3)


@pytest.mark.parametrize(("visits", "reached"), [
    ([1, 0, 0], 1), ([0, 0, 9, 9, 0], 2), ([0], 0)])
def test_less_than_half_is_most_left_out(visits, reached):
    with pytest.raises(InputError, match=f"of walks reach only {reached} of {len(visits)} vert"):
        sample_source._check_reached(np.array(visits), "walks")
    sample_source._check_reached(np.array([*visits, *[1] * len(visits)]), "walks")
    sample_source._check_reached(np.array([0, 3]), "walks")


def test_a_cut_has_its_parts():
    samples = source("cut", parts=3, batch=None, coverage=None)
    assert len(samples) == 3 and len(samples.first.edges) == 2
    own = [sample.training_vertices for sample in samples.epoch(0)]
    assert len(own) == 3 and min(own) < VERTICES <= sum(own)  # a vertex may be in several


def test_only_the_first_sample_of_all_is_the_first():
    samples = source("edges")
    again, *_ = samples.epoch(0)
    other, *_ = samples.epoch(1)
    assert again is samples.first and other is not samples.first


def test_features_are_normalised_if_the_recipe_says_so():
    """Each row of ones then sums up to one."""
    plain, normalised = (SampleSource(ring(), NETWORK, Recipe(normalise_features=normalise),
                                      Sampling(sampler="nodes", batch=BATCH, coverage=2.0)).first
                         for normalise in (False, True))
    assert plain.features.exponent == normalised.features.exponent + 1
