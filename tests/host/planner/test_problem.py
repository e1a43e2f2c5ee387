# SPDX-License-Identifier: BSD-2-Clause
"""Problems: numbers of layers, steps, slices, and of what boards hold and exchange."""

from dataclasses import replace

import pytest

from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.planner.layer_costs import list_footprint
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.problem import NetworkLayer, Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.reference.models import model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.step_graph import step_graph
from tests.host.planner.problems import cluster, problem

BOARDS = load_cluster("u50-2")
[BOARD, *_] = BOARDS.boards
#: Vertices of the levels of a sample, and entries of its matrices.
SAMPLE = Statistics(vertices=(50, 30, 20, 10), edges=(70, 60, 40), sampled=True)


def of(network, statistics=None, **options):
    statistics = statistics or Statistics.whole(100, 500, len(network.layers))
    return Problem.of_network(BOARDS, network, statistics, **options)


@pytest.mark.parametrize(("samples", "steps"), [
    (0, ((4, 1),)), (4, ((4, 1),)), (3, ((3, 1),)), (11, ((4, 2), (3, 1))), (12, ((4, 3),))])
def test_steps_of_an_epoch(samples, steps):
    found = of(Network.of_widths([4, 4, 4, 2]), SAMPLE, micro_batches=4, samples=samples)
    assert found.steps == steps
    mean = sum(count * size**2 for size, count in steps) / sum(count for _, count in steps)
    assert found.mean_step(lambda size: size**2) == mean
    assert found.more_micro_batches == (
        "raise --micro-batches" if samples in (0, 11, 12) else
        f"an epoch has no more samples than {samples}; make them smaller or more")


def test_layers_and_who_reads_them():
    found = of(Network.of_widths([8, 6, 4, 2]))
    assert [(layer.name, layer.number, layer.columns) for layer in found.layers] == [
        ("layer 1", 1, 6), ("layer 2", 2, 4), ("layer 3", 3, 2)]
    assert found.edges == ((0, 1), (1, 2)) and found.numbers == (1, 2, 3)
    assert found.is_one_network
    assert not replace(found, edges=((0, 1),)).is_one_network
    assert not replace(found, layers=found.layers[::-1]).is_one_network
    jumping = of(model_network("gcn", 8, [4, 4], 3, jumping=True))
    assert jumping.edges == ((0, 1), (0, 2), (1, 2))


def test_sums_of_gradients_pass_from_reader_to_reader():
    """Jumping knowledge: the gradient of layer 1 comes from 3 by way of 2. Residuals: to 2."""
    assert of(model_network("gcn", 8, [4, 4], 3, jumping=True)).graph.skips == ((0, 2, 1),)
    deep = of(model_network("gcnii", 8, [4] * 4, 3))
    initial = deep.layers[0].network.initial
    assert len(initial) > 2
    expected = [(0, number - 1, before - 1)
                for before, number in zip((2, *initial), initial, strict=False)]
    assert list(deep.graph.skips) == expected
    assert replace(deep, layers=deep.layers[:-1], edges=deep.edges[:-1]).graph.skips == ()


def test_what_operators_make():
    found = of(Network.of_widths([8, 6, 4, 2]), SAMPLE)
    width = BOARD.config.element_width // 8
    assert [one.output for one in found.graph.operators] == [
        30 * 6 * width, 20 * 4 * width, 10 * 2 * width]
    assert [one.mask for one in found.graph.operators] == [-(-180 // 8), 10, -(-20 // 8)]
    weights = [8 * 6 + 6, 6 * 4 + 4, 4 * 2 + 2]
    assert [one.weights for one in found.graph.operators] == weights
    assert found.weights == sum(weights)
    assert found.operators(SAMPLE) is found.graph
    assert found.operators(SAMPLE.part(2)) is not found.graph


def test_the_fastest_board_comes_first():
    found = problem([4, 5], cluster(100, 300, 200))
    assert [board.name for board in found.fastest] == ["b1-0", "b2-0", "b0-0"]


def test_rooms_of_results_and_lists():
    """Edges are there both ways, for each layer that sums; those of a whole graph once."""
    network = model_network("gin", 8, [6], 3)  # layers 2 and 4 sum nothing
    statistics = Statistics(vertices=(50, 30, 30, 20, 20), edges=(70, 30, 60, 20), sampled=True)
    found = of(network, statistics)
    ways = {number: list_footprint(targets, sources, edges, "power", BOARD.config)
            + list_footprint(sources, targets, edges, "power", BOARD.config)
            for number, (sources, targets, edges) in {0: (50, 30, 70), 2: (30, 20, 60)}.items()}
    assert found.lists([0], BOARD) == ways[0]
    assert found.lists([1, 3], BOARD) == Footprint()
    assert found.lists([0, 1, 2], BOARD) == ways[0] + ways[2]
    whole = of(network)
    once = list_footprint(100, 100, 500, "power", BOARD.config)
    assert whole.lists([0, 2], BOARD) == once == whole.lists([2], BOARD)
    part = Statistics.whole(40, 200, 4)
    assert whole.lists([0], BOARD, part) == list_footprint(40, 40, 200, "power", BOARD.config)


@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
def test_columns_that_parts_exchange(orders):
    """Sums of the input features are made once, where they are made first."""
    first = orders == AGGREGATE_FIRST
    network = Network.of_widths([8, 6, 4], orders=orders)
    columns = [step_graph(network).aggregated_columns(number) for number in (1, 2)]
    found = of(network)
    assert found.sent_columns == [one for layer in columns for way in layer for one in way]
    assert found.exchanges == [
        one for number, (forward, backward) in enumerate(columns)
        for one in ([] if first and not number else forward) + backward]
    assert (len(found.exchanges) < len(found.sent_columns)) == first


def test_layers_are_split_by_columns():
    lanes = BOARD.config.lanes
    network = Network.of_widths([8, 4 * lanes, 3 * lanes + 1, 5])
    found = of(network)
    assert found.splittable == (4, 3, 1)
    split = found.split([2, 3, 1])
    assert [(layer.name, layer.columns, layer.number) for layer in split.layers] == [
        (f"layer 1 (columns 1 to {2 * lanes})", 2 * lanes, 1),
        (f"layer 1 (columns {2 * lanes + 1} to {4 * lanes})", 2 * lanes, 1),
        (f"layer 2 (columns 1 to {lanes})", lanes, 2),
        (f"layer 2 (columns {lanes + 1} to {2 * lanes})", lanes, 2),
        (f"layer 2 (columns {2 * lanes + 1} to {3 * lanes + 1})", lanes + 1, 2),
        ("layer 3", 5, 3)]
    assert split.edges == tuple((one, other) for one in (0, 1) for other in (2, 3, 4)) + tuple(
        (one, 5) for one in (2, 3, 4))
    for layer in split.layers[:5]:
        own, after = layer.network.layers[layer.number - 1:layer.number + 1]
        assert own.features_out == after.features_in == layer.columns
        assert len(layer.network.layers) == 3
    assert not split.is_one_network
    assert found.split([1, 1, 1]).layers == found.layers


@pytest.mark.parametrize(("slices", "text"), [
    ([1, 1], "the network has 3 layers, but slices of 2 are given; give one number for each"),
    ([5, 1, 1], "layer 1 can be split into 1 to 4 slices by its columns, not into 5"),
    ([1, 0, 1], "layer 2 can be split into 1 to 3 slices by its columns, not into 0"),
    ([1, 1, 2], "layer 3 can be split into 1 to 1 slices by its columns, not into 2")])
def test_what_cannot_be_split(slices, text):
    lanes = BOARD.config.lanes
    with pytest.raises(ValueError, match=text):
        of(Network.of_widths([8, 4 * lanes, 3 * lanes + 1, 5])).split(slices)


def test_ends_of_residual_connections_and_branches_are_not_split():
    wide = 4 * BOARD.config.lanes
    plain, residual = (model_network("gcn", wide, [wide] * 3, 4, residual=residual)
                       for residual in (False, True))
    assert of(plain).splittable == (4, 4, 4, 1)
    assert max(of(residual).splittable[:3]) == 1
    assert of(model_network("mixhop", wide, [wide] * 4, 4)).splittable[0] == 1
    other = of(plain)
    branches = replace(other, layers=(other.layers[0], *(
        NetworkLayer(layer.name, replace(plain), layer.number) for layer in other.layers[1:])))
    assert branches.splittable == (1,) * 4
    narrow = of(Network.of_widths([4, 3, 2]))
    assert narrow.splittable == (1, 1)


def test_entries_of_the_exponent_file_are_counted_once():
    """A slice needs the entries of all slices that it reads."""
    found = of(Network.of_widths([8, 64, 32, 5]))
    assert found.entries == len(frozenset().union(*found.layer_entries))
    assert found.layer_entries[0] & found.layer_entries[1]
    split = found.split([2, 1, 1])
    assert len(split.layer_entries) == 4
    own = [entries - split.layer_entries[2] for entries in split.layer_entries[:2]]
    shared = [entries & split.layer_entries[2] for entries in split.layer_entries[:2]]
    assert own[0] and len(own[0]) == len(own[1])
    assert all(shared) and {maker for one in shared for maker, *_ in one
                            if isinstance(maker, int)} >= {0, 1}
    assert split.entries > found.entries


def test_boards_of_different_widths():
    mixed = Cluster.of_sections({
        "boards": {"a": {"board": "u50"}, "b": {"board": "u50", "element_width": 8}},
        "links": {"switch": {"gigabits": 1}}})
    with pytest.raises(ValueError, match=(
            "elements of the same width, but a-0 has 16, b-0 has 8 bits; set element_width")):
        Problem.of_network(mixed, Network.of_widths([2, 2]), Statistics.whole(4, 4, 1))


def test_orders_are_as_they_are_given():
    network = Network.of_widths([64, 4, 4], orders=AGGREGATE_FIRST)
    found = of(network, adam=True)
    assert found.adam and all(layer.network is network for layer in found.layers)


def test_a_whole_graph_is_one_micro_batch():
    network = Network.of_widths([8, 6, 4, 2])
    with pytest.raises(ValueError, match=(
            r"has one micro-batch, not 2; train on samples \(--sampler\), or leave micro_batches")):
        of(network, micro_batches=2)
    assert of(network, SAMPLE, micro_batches=2).micro_batches == 2


def test_layers_that_read_the_features_add_up_no_gradients_for_them():
    """Three branches of ``sign`` read them, and need no gradient of them."""
    found = of(model_network("sign", 12, [8] * 3, 4))
    assert found.layers[0].network.readers(0) == (1, 2, 3)
    assert found.graph.skips == ()


def test_what_splits_a_layer_is_only_who_reads_it():
    """A residual connection of a later layer is none of its business; one layer is the last."""
    wide = 4 * BOARD.config.lanes
    network = Network.of_widths([wide] * 6)
    layers = list(network.layers)
    layers[3] = replace(layers[3], root="identity")
    assert of(replace(network, layers=tuple(layers))).splittable == (4, 4, 1, 1, 1)
    assert of(Network.of_widths([wide, wide])).splittable == (1,)
