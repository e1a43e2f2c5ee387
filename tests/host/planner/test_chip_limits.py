# SPDX-License-Identifier: BSD-2-Clause
"""Plans are offered only if the chips have as many entries and instructions as they take."""

import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.compiler.layer_entries import layer_entries
from hypercast.host.compiler.program_length import program_length
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.planner.chip_limits import alone_length, shortage
from hypercast.host.planner.plan_file import plan_of_sections, plan_text
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.search import search
from hypercast.host.planner.statistics import Statistics
from hypercast.reference.network import Network
from tests.host.compiler.random_networks import models


def boards(count, **fields):
    return Cluster.of_sections({
        "boards": {"one": {"board": "vcu128", "count": count, "tensors": 64,
                           "program_rows": 4096, **fields}},
        "links": {"network": {"gigabits": 100}}})


def deep(cluster, layers, *, sampled=True, vertices=800, adam=False):
    """Convolutions of the same width."""
    network = Network.of_widths([16] * (layers + 1))
    statistics = Statistics(vertices=(vertices,) * (layers + 1), edges=(10 * vertices,) * layers,
                            sampled=sampled)
    return Problem.of_network(cluster, network, statistics,
                              micro_batches=8 if sampled else 1, adam=adam)


def reasons(problem):
    return {one.strategy: one.reason for one in search(problem).refusals}


def test_32_layers_do_not_fit_a_chip():
    for count in (1, 4):
        problem = deep(boards(count), 32)
        assert not search(problem).plans
        found = reasons(problem)
        assert found["one board"] == (
            "one-0 (vcu128) has 64 entries of the exponent file, but 259 are needed for layer 1 to "
            "layer 32; raise tensors to 512 (in the cluster's file: tensors=512)")
    for strategy in ("samples in parallel", "BaPipe", "GraphPipe", "Piper", "PipeDream",
                     "PipeDream-2BW", "GPipe, equal layers", "layers one after another"):
        assert "64 entries of the exponent file, but" in found[strategy], strategy
    assert "raise tensors to 128 (in the cluster's file: tensors=128)" in found["BaPipe"]


def test_what_does_not_fit_says_what_helps():
    small = {"tensors": 512, "weight_rows": 32}
    assert reasons(deep(boards(1, **small), 4))["one board"] == (
        "one-0 (vcu128) has a weight bank of 32 rows, but 68 are needed for layer 1 to layer 4; "
        "raise weight_rows to 128 (in the cluster's file: weight_rows=128)")
    found = reasons(deep(boards(1, tensors=512, gigabytes=1e-3), 4, vertices=50_000))["one board"]
    assert "times that are needed for layer 1 to layer 4; take more boards" in found


def test_more_boards_or_larger_files_have_room():
    plans = {plan.strategy: plan for plan in search(deep(boards(6), 32)).plans}
    assert plans.keys() >= {"BaPipe", "GraphPipe", "Piper", "PipeDream", "PipeDream-2BW"}
    for plan in plans.values():
        assert max(len(share.layers) for share in plan.shares) <= 7
    assert "samples in parallel" not in plans
    for layers, tensors in ((31, 256), (32, 512)):
        found = search(deep(boards(2, tensors=tensors), layers))
        assert {plan.strategy for plan in found.plans} >= {
            "one board", "samples in parallel", "BaPipe"}


def test_more_layers_than_any_chip_has_entries():
    assert reasons(deep(boards(1, tensors=1024), 130))["one board"] == (
        "one-0 (vcu128) has 1024 entries of the exponent file, but 1043 are needed for layer 1 to "
        "layer 130; no configuration has as many: use fewer layers, or more boards that have some "
        "layers each")
    assert "one board" in {plan.strategy for plan in search(Problem.of_network(
        load_cluster("vcu128-2"), Network.of_widths([16] * 65), Statistics(
            vertices=(800,) * 65, edges=(8000,) * 64, sampled=True))).plans}


def test_a_graph_in_parts_needs_all_entries_on_each_board():
    found = reasons(deep(boards(2), 8, sampled=False))
    for strategy, share in (("graph in parallel", "one of 2 parts of the graph"),
                            ("PipeGCN", "one of 2 parts of the graph"),
                            ("CoFree-GNN", "one of 2 shares of the edges")):
        assert f"but 67 are needed for {share}; raise tensors to 128" in found[strategy]
    assert {"BaPipe", "GNNPipe"}.isdisjoint(found)


def test_programs_that_are_too_long():
    problem = deep(boards(2, program_rows=64), 6)
    length = program_length(problem.layers[0].network, problem.boards[0].config,
                            problem.statistics.vertices, ("step_sums", "update", "evaluate"))
    assert 64 < length <= 128
    assert reasons(problem)["one board"] == (
        f"one-0 (vcu128) has 64 rows of program memory, but {length} are needed for layer 1 to "
        f"layer 6; raise program_rows to 128 (in the cluster's file: program_rows=128)")
    assert "BaPipe" in {plan.strategy for plan in search(problem).plans}
    # A graph's size makes none too long: strips of rows are in loops.
    large = deep(boards(2), 2, sampled=False, vertices=15_000_000)
    assert "program memory" not in reasons(large)["one board"]


@pytest.mark.parametrize("sampled", [True, False])
def test_adam_needs_its_unit_on_each_board(sampled):
    lacking = deep(boards(3, tensors=512, adam=False), 4, sampled=sampled, adam=True)
    found = search(lacking)
    assert not found.plans
    for one in found.refusals:
        if "samples" not in one.reason and "micro-batch" not in one.reason:
            assert "has no unit for the optimiser adam; give it one (in the cluster's file: " \
                   "adam=true), or train with sgd" in one.reason, one.strategy
    for able in (deep(boards(3, tensors=512, adam=False), 4, sampled=sampled),
                 deep(boards(3, tensors=512), 4, sampled=sampled, adam=True)):
        assert {"one board", "BaPipe"} <= {plan.strategy for plan in search(able).plans}


def test_a_board_without_the_unit_gets_no_share():
    sections = {name: {"board": "vcu128", "tensors": 512, "program_rows": 4096, "adam": able}
                for name, able in (("with", True), ("without", False))}
    mixed = Cluster.of_sections({"boards": sections, "links": {"network": {"gigabits": 100}}})
    found = search(deep(mixed, 4, adam=True))
    assert {plan.boards for plan in found.plans} == {("with-0",)}


def test_an_edited_plan_is_refused():
    problem = deep(boards(6), 32)
    plan = next(one for one in search(problem).plans if one.strategy == "BaPipe")
    sections = tomllib.loads(plan_text(problem, plan))
    assert plan_of_sections(sections, problem).shares == plan.shares
    first, second = sections["shares"]["1"], sections["shares"]["2"]
    first["layers"] += second["layers"][:-1]
    second["layers"] = second["layers"][-1:]
    assert len(first["layers"]) > 7
    with pytest.raises(DescriptionError, match=rf"^one-\d \(vcu128\) has 64 entries of the exponent"
                                               rf" file, but \d+ are needed for layer 1 to layer "
                                               rf"{len(first['layers'])}; raise tensors to 128"):
        plan_of_sections(sections, problem)


@pytest.mark.parametrize(("widths", "vertices", "text"), [
    ([16, 2000], 100, "the network has 2000 classes, but the loss unit takes"),
    ([16, 16], 1 << 27, "the graph has 134217728 vertices"),
])
def test_what_no_instruction_can_name(widths, vertices, text):
    problem = Problem.of_network(boards(1), Network.of_widths(widths),
                                 Statistics.whole(vertices, vertices, 1))
    assert shortage(problem, [0], problem.boards[0], "it").startswith(f"one-0 (vcu128): {text}")


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_stages_are_refused_just_when_the_compiler_would(data):
    network = data.draw(models()).network
    layers = len(network.layers)
    first = data.draw(st.integers(1, layers))
    run = range(first, data.draw(st.integers(first, layers)) + 1)
    entries = len(layer_entries(network, run))
    vertices = data.draw(st.sampled_from([30, 5000, 50_000]))
    for tensors in (16, 32, 64, 128):
        [board] = boards(1, tensors=tensors).boards
        problem = Problem.of_network(boards(1), network, Statistics.whole(
            vertices, vertices, layers))
        found = shortage(problem, [number - 1 for number in run], board, "it")
        assert (f"but {entries} are needed" in found) == (entries > tensors)
    rows = (vertices,) * (layers + 1)
    length = program_length(network, board.config, rows, layers=run)
    small = replace(board, config=board.config.replace(
        program_rows=max(16, 1 << length.bit_length() - 1), tensors=256))
    about = sum(alone_length(problem, number - 1, small) for number in run)
    assert about == pytest.approx(length, rel=0.5)
    found = shortage(problem, [number - 1 for number in run], small, "it")
    assert ("rows of program memory" in found) == (length > small.config.program_rows)
