# SPDX-License-Identifier: BSD-2-Clause
"""Passes of runs of layers one after another are those of the whole network, entry by entry."""

import itertools
from dataclasses import replace

import numpy as np
import scipy.sparse
from hypothesis import event, given, settings
from hypothesis import strategies as st

from hypercast.host.runtime.passes import Message
from hypercast.host.runtime.reference_passes import ReferencePasses
from hypercast.host.schemes.layer_crossings import crossings
from hypercast.reference.exponents import AlignmentError, ExponentError
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.network import LINEAR, ROOT_INITIAL, Layer, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Kind, Tensor
from tests.reference.random_networks import branched_networks


def passed(stages, network, runs, *, forward):
    """All stages do a pass, each with what others made."""
    found = crossings(network, runs, forward=forward)
    messages = {}
    for rank, stage in (enumerate(stages) if forward else reversed([*enumerate(stages)])):
        message = Message()
        for (_, target), sent in messages.items():
            if target == rank:
                message |= sent
        (stage.forward if forward else stage.backward)(message)
        for target in {one.target for one in found if one.source == rank}:
            messages[rank, target] = stage.message(
                [one for one in found if (one.source, one.target) == (rank, target)])


@st.composite
def trainings(draw):
    """A network with jumping knowledge of some layers, branches, or initial residuals, how it is
    cut, and entries that are off.
    """
    if draw(st.booleans()):
        network = draw(branched_networks())
        return network, *draw(cuts_and_entries(len(network.layers) - 1))
    count = draw(st.integers(2, 5))
    if draw(st.booleans()):
        chosen = draw(st.sets(st.integers(2, count)))
        plain = Layer(features_in=4, features_out=4)
        network = Network(layers=tuple(
            replace(plain, root=ROOT_INITIAL, alpha=0.3) if number in chosen else
            replace(plain, features_out=3 if number > count else 4)
            for number in range(1, count + 2)))
        return network, *draw(cuts_and_entries(count))
    roots = draw(st.lists(st.sampled_from([None, "identity", "weights", "linear"]), min_size=count,
                          max_size=count))
    jumping = sorted({*draw(st.sets(st.integers(1, count))), count})
    widths = {"features_in": 4, "features_out": 4}
    hidden = [Layer(**widths, order=LINEAR) if root == "linear" else Layer(**widths, root=root)
              for root in roots]
    network = Network(jumping=tuple(jumping), layers=(
        *hidden, Layer(features_in=4 * len(jumping), features_out=3, order=LINEAR)))
    return network, *draw(cuts_and_entries(count))


@st.composite
def cuts_and_entries(draw, count):
    cuts = sorted(draw(st.sets(st.integers(2, count + 1), min_size=1)))
    shared = [Tensor(Kind.HIDDEN), Tensor(Kind.AGGREGATED_GRADIENT),
              *(Tensor(Kind.AGGREGATED_GRADIENT, source=number) for number in (1, 2, 3))]
    entries = {name: draw(st.sampled_from([0, 6, *range(-20, -10)])) for name in shared}
    return [range(*pair) for pair in itertools.pairwise([1, *cuts, count + 2])], entries, \
        draw(st.integers(0, 99))


def model_of(network, seed):
    rng = np.random.default_rng(seed)
    vertices = 12
    edges = scipy.sparse.csr_array(np.eye(vertices) + (rng.random((vertices, vertices)) < 0.3))
    return FixedGnn.of(network, Recipe(), edges, rng.normal(size=(vertices, 4)),
                       rng.integers(0, 3, vertices), rng.integers(1, 4, vertices))


@settings(max_examples=60, deadline=None)
@given(trainings())
def test_tensors_and_entries_are_those_of_the_whole_network(training):
    """Also where the peak of an entry that layers have in common is far off: what is stored first
    decides its exponent, whichever board stores it, and what does not fit is refused everywhere.
    """
    network, runs, moved, seed = training
    oracle = model_of(network, seed)
    oracle.begin_step()
    begun = oracle.exponents.entries()
    for name, shift in moved.items():
        if name in begun:
            exponent, peak = begun[name]
            begun[name] = exponent + shift, None if peak is None else peak + shift
    oracle._begun = begun
    stages = [ReferencePasses(oracle, oracle.sample, run, oracle.step_key, entries=begun)
              for run in runs]

    def alone():
        return oracle.step_sums()

    def shared():
        passed(stages, network, runs, forward=True)
        passed(stages, network, runs, forward=False)
        return [stage.sums() for stage in stages]

    def outcome(run):
        try:
            return run()
        except (ExponentError, AlignmentError) as error:
            return str(error)

    expected, found = outcome(alone), outcome(shared)
    if isinstance(expected, str):
        event(expected[:10])
        assert found == expected
        return
    gradients = {name: values for one in found for name, values in one.gradients.items()}
    assert gradients.keys() == expected.gradients.keys()
    for name, values in expected.gradients.items():
        np.testing.assert_array_equal(gradients[name], values)
    opened = {}
    for one in found:
        for name, (exponent, peak) in one.entries.items():
            before = opened.get(name, (exponent, None))
            assert before[0] == exponent
            peaks = [one for one in (before[1], peak) if one is not None]
            opened[name] = exponent, max(peaks, default=None)
    assert {**begun, **opened} == expected.entries
    assert sum(one.saturations for one in found) == expected.saturations
    for stage in stages:
        for name, values in stage.passes.tensors.items():
            if name.kind in (Kind.HIDDEN, Kind.GRADIENT, Kind.JUMPING_GRADIENT,
                             Kind.PARTIAL_GRADIENT):
                np.testing.assert_array_equal(values, oracle.tensors[name])
