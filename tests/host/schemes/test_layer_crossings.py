# SPDX-License-Identifier: BSD-2-Clause
"""Which tensors cross between boards with runs of layers: what each needs comes to it once."""

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.schemes.layer_crossings import Routes, crossings
from hypercast.reference.network import LINEAR, ROOT_INITIAL, Layer, Network
from tests.reference.random_networks import branched_networks


@st.composite
def shares(draw):
    """A network with branches, jumping knowledge, initial residuals or none of them, and the runs
    of boards.
    """
    added = draw(st.sampled_from(["branches", "jumping", "initial", "neither"]))
    if added == "branches":
        network = draw(branched_networks())
        return network, draw(runs_of(len(network.layers)))
    count = draw(st.integers(1, 7))
    chosen = draw(st.sets(st.integers(1, count)))
    jumping = sorted({*chosen, count}) if chosen and added == "jumping" else []
    plain = Layer(features_in=3, features_out=3)
    hidden = [replace(plain, root=ROOT_INITIAL, alpha=0.1)
              if added == "initial" and number in chosen and number > 1 else plain
              for number in range(1, count + 1)]
    network = Network(jumping=tuple(jumping), layers=(*hidden, Layer(
        features_in=3 * len(jumping) or 3, features_out=2, order=LINEAR)))
    return network, draw(runs_of(count + 1))


@st.composite
def runs_of(draw, count):
    cuts = sorted(draw(st.sets(st.integers(2, count))))
    return [range(*pair) for pair in itertools.pairwise([1, *cuts, count + 1])]


def readers_of(network, layer):
    """Numbers of the layers that take the outputs of one, but for initial residuals."""
    return [number for number in range(1, len(network.layers) + 1)
            if any(weight.source == layer and not (weight.root and number in network.initial)
                   for weight in network.weights(number))]


def summed(network, layer):
    """The gradient of the first layer's outputs that an initial residual passes on."""
    return f"dS{layer}" if layer == network.initial[-1] else f"dU{layer}"


@given(shares())
def test_a_board_gets_once_what_its_layers_need_and_have_not(share):
    network, runs = share
    made = {forward: [set() for _ in runs] for forward in (True, False)}
    needed = {forward: [set() for _ in runs] for forward in (True, False)}
    last = len(network.layers)
    for rank, run in enumerate(runs):
        for layer in run:
            made[True][rank].add(f"H{layer}")
            for weight in network.weights(layer):
                if weight.source:
                    needed[True][rank].add(f"H{weight.source}")
            if layer < last:
                needed[False][rank].add(f"dZ{layer}")
            sources = {weight.source for weight in network.weights(layer)
                       if not (weight.root and layer in network.initial)}
            for source in sources - {0}:
                readers = readers_of(network, source)
                parts = {reader: f"dC{source}" if network.jumping and reader == last
                         else f"dU{reader}" for reader in readers} | {readers[0]: f"dZ{source}"}
                made[False][rank].add(parts[layer])
                if layer != readers[-1]:
                    needed[False][rank].add(parts[readers[readers.index(layer) + 1]])
            # The gradient of H1 that passes from one initial residual to the one before.
            if layer in network.initial:
                made[False][rank].add(summed(network, layer))
            if after := [one for one in network.initial if one > layer]:
                if layer == 2 or layer in network.initial:
                    needed[False][rank].add(summed(network, after[0]))
    for forward in (True, False):
        found = crossings(network, runs, forward=forward)
        pairs = [(name, target) for name, _, target, _ in found]
        assert len(pairs) == len({*pairs})
        for rank in range(len(runs)):
            assert {name for name, target in pairs if target == rank} == \
                needed[forward][rank] - made[forward][rank]
        assert all(name in made[forward][source] for name, source, _, _ in found)
        # A hidden feature's mask goes where its gradient is made, and nowhere else.
        assert [masked for _, _, _, masked in found] == [
            forward and readers_of(network, name.layer)[0] in runs[target]
            for name, _, target, _ in found]


@given(shares())
def test_what_one_sends_the_other_one_waits_for(share):
    network, runs = share
    for forward in (True, False):
        routes = [Routes.of(network, runs, rank, forward=forward) for rank in range(len(runs))]
        sent = {(rank, target) for rank, route in enumerate(routes) for target in route.sent}
        assert sent == {(source, rank) for rank, route in enumerate(routes)
                        for source in route.sources}
        # So no two boards wait for each other.
        assert all((source < target) == forward for source, target in sent)
        assert sum(len(one) for route in routes for one in route.sent.values()) == \
            len(crossings(network, runs, forward=forward))


def test_a_chain_passes_on_to_its_neighbours():
    layers = (Layer(features_in=3, features_out=3),) * 4
    runs = [range(1, 3), range(3, 4), range(4, 5)]
    assert crossings(Network(layers=layers), runs, forward=True) == [
        ("H2", 0, 1, True), ("H3", 1, 2, True)]
    assert crossings(Network(layers=layers), runs, forward=False) == [
        ("dZ2", 1, 0, False), ("dZ3", 2, 1, False)]


def test_an_initial_residual_goes_to_all_boards_and_its_gradient_from_each_to_the_one_before():
    initial = Layer(features_in=3, features_out=3, root=ROOT_INITIAL, alpha=0.1)
    network = Network(layers=(Layer(features_in=3, features_out=3), *[initial] * 4))
    runs = [range(1, 2), range(2, 3), range(3, 5), range(5, 6)]
    assert Routes.of(network, runs, 0, forward=True) == (
        [], {1: [("H1", 0, 1, True)], 2: [("H1", 0, 2, False)], 3: [("H1", 0, 3, False)]})
    assert [Routes.of(network, runs, rank, forward=False).sent for rank in (3, 2, 1)] == [
        {2: [("dZ4", 3, 2, False), ("dS5", 3, 2, False)]},
        {1: [("dZ2", 2, 1, False), ("dU3", 2, 1, False)]}, {0: [("dZ1", 1, 0, False)]}]


def test_jumping_knowledge_skips_boards():
    last = Layer(features_in=9, features_out=3, order=LINEAR)
    network = Network(jumping=(1, 2, 3), layers=(
        *(Layer(features_in=3, features_out=3),) * 3, last))
    runs = [range(1, 2), range(2, 3), range(3, 4), range(4, 5)]
    assert Routes.of(network, runs, 0, forward=True) == (
        [], {1: [("H1", 0, 1, True)], 3: [("H1", 0, 3, False)]})
    assert Routes.of(network, runs, 3, forward=False) == (
        [], {2: [("dC2", 3, 2, False), ("dZ3", 3, 2, False)], 1: [("dC1", 3, 1, False)]})
    assert Routes.of(network, runs, 1, forward=False).sources == [3, 2]
