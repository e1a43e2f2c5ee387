# SPDX-License-Identifier: BSD-2-Clause
"""Shares of a training: what programs they have, what they have room for, and what crosses."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hypercast.host.cluster.division import Division
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.memory_map import RANKS, CapacityError
from hypercast.host.compiler.packing import deal
from hypercast.host.compiler.piece_program import BACKWARD, EVALUATE, FORWARD, PIECES, UPDATE
from hypercast.host.compiler.pieces import compile_pieces
from hypercast.host.schemes.graph_parts import parts_of
from hypercast.host.training.prepare import prepare
from hypercast.reference.network import Layer, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Mantissas
from hypercast.reference.tensor import FEATURES, Kind, Pass, Tensor
from hypercast.rtl.isa import Opcode, decode
from tests.host.models import SMALL, named_model, small_graph, small_model
from tests.host.noted_programs import CASES, noted, summary

CONFIG = SMALL.replace(program_rows=1024)
COMBINE, AGGREGATE = ("combine_first",) * 3, ("aggregate_first",) * 3


def part(orders, dropout=0.0):
    """A model with half of the vertices of a graph."""
    model = small_model(small_graph(12), hidden=(4, 5), config=CONFIG, orders=orders,
                        dropout=dropout)
    sample, *_ = parts_of(model.sample, Division.count(
        model.sample.edges[0], np.arange(12) // 6, 2))
    if orders[0] == "aggregate_first":
        rows = len(sample.labels) + sample.rows_here.halo_rows(transposed=False)
        values = np.ones((rows, model.network.features), dtype=np.int64)
        sample = replace(sample, features=Mantissas(values, sample.features.exponent))
    return model.with_sample(sample)


def opcodes(job, entry):
    return [decode(word)["opcode"] for word in job.instructions(entry)]


@pytest.mark.parametrize("layers", [range(1, 4), range(1, 2), range(2, 4), range(2, 3)])
def test_a_run_of_layers(layers):
    """It has its own parameters only, and just what it reads and writes."""
    pieces = compile_pieces(small_model(hidden=(4, 5), config=CONFIG), CONFIG, layers=layers)
    job = pieces.job
    assert list(job.starts) == list(PIECES)
    assert pieces.crossing == {name: [None] for name in PIECES}
    assert {name.layer for name in job.weights} == set(layers)
    hidden = {name.layer for name in job.regions if isinstance(name, Tensor)
              and str(name).startswith("H")}
    assert hidden == {layer for layer in range(layers[0] - 1, layers[-1] + 1) if 0 < layer < 3}
    assert (FEATURES in job.regions) == (1 in layers)
    assert (Opcode.LOSS in opcodes(job, FORWARD)) == (3 in layers)
    assert opcodes(job, UPDATE).count(Opcode.UPDATE) == sum(
        len(weights.portions) for weights in job.weights.values())
    assert {str(name) for name in pieces.stored[BACKWARD]} >= {
        f"dZ{layer - 1}" for layer in layers if layer > 1}
    assert pieces.stored[EVALUATE] == {name for name in pieces.stored[EVALUATE]
                                       if str(name).endswith(".eval")}


@pytest.mark.parametrize("jumping", [(1, 2, 3), (1, 3), (3,)])
def test_runs_with_jumping_knowledge(jumping):
    """What skips runs has a place where it is read and where it is made, and nowhere else. An entry
    that layers have in common is opened once, by the first run that stores a part of it.
    """
    network = Network(jumping=jumping, layers=(*(
        Layer(features_in=4, features_out=4, root=root) for root in (None, "identity", "identity")),
        Layer(features_in=4 * len(jumping), features_out=3, order="linear")))
    model = prepare(small_graph(features=4), network, Recipe(element_width=CONFIG.element_width))
    runs = [range(1, 2), range(2, 3), range(3, 4), range(4, 5)]
    shares = [compile_pieces(model, CONFIG, layers=run) for run in runs]

    def places(kind):
        return [sorted(name.layer for name in share.job.regions if isinstance(name, Tensor)
                       and name.kind == kind and name.during == Pass.TRAINING) for share in shares]

    assert places(Kind.HIDDEN) == [[1], [1, 2], [2, 3], sorted({*jumping, 3})]
    skipping = [*jumping[:-1]]
    assert places(Kind.JUMPING_GRADIENT) == [
        [], [one for one in skipping if one == 1], [one for one in skipping if one == 2], skipping]
    for piece, order in ((FORWARD, shares), (EVALUATE, shares), (BACKWARD, shares[::-1])):
        opened, stored = Counter(), []
        for share in order:
            for fields in map(decode, share.job.instructions(piece)):
                if fields["opcode"] == Opcode.DRAIN:
                    name = list(share.job.tensors)[fields["o"]]
                    opened[name] += fields["open"]
                    stored.append((name, fields["open"]))
        for name in {name for name, _ in stored if not name.layer}:
            assert opened[name] == 1
            assert next(opens for one, opens in stored if one == name)


def test_runs_take_less_memory_than_all_layers():
    model = small_model(hidden=(4, 5), config=CONFIG)
    whole = compile_pieces(model, CONFIG).job
    for first, last in pairwise((1, 2, 3, 4)):
        job = compile_pieces(model, CONFIG, layers=range(first, last)).job
        assert sum(region.words for region in job.regions.values()) < sum(
            region.words for region in whole.regions.values())
        assert len(job.program) < len(whole.program)


@pytest.mark.parametrize(("orders", "forward", "backward"), [
    (COMBINE, [None, "T1", "T2", "T3"], ["dZ3", "dZ2", "dZ1"]),
    (AGGREGATE, [None, "H1", "H2"], [None, "dM3", "dM2"])])
def test_rows_cross_before_they_are_summed(orders, forward, backward):
    """Features never change, and cross before the first step."""
    pieces = compile_pieces(part(orders), CONFIG)
    assert pieces.crossing[FORWARD] == forward
    assert pieces.crossing[EVALUATE] == [name and f"{name}.eval" for name in forward]
    assert pieces.crossing[BACKWARD] == backward
    assert [entry for entry, _ in pieces.parts(FORWARD)] == [
        FORWARD, *(f"{FORWARD} {number}" for number in range(1, len(forward)))]
    for piece in (FORWARD, BACKWARD):
        for entry, name in pieces.parts(piece):
            sums = opcodes(pieces.job, entry).count(Opcode.AGGREGATE)
            assert bool(sums) == (name is not None or (entry, orders) == (FORWARD, AGGREGATE))


def test_a_part_of_many_strips():
    """The rows have an entry of the row table, and so have the rows with those of others."""
    count, config = 1000, CONFIG.replace(channel_words=1 << 14, program_rows=4096)
    model = small_model(small_graph(count), hidden=(2,), config=config)
    sample, *_ = parts_of(model.sample, Division.count(
        model.sample.edges[0], np.arange(count) * 2 // count, 2))
    job = compile_pieces(model.with_sample(sample), config).job
    entries = [vertices.entry for vertices in (*job.plan.vertices, *job.plan.sources)]
    with_others = [count // 2 + sample.rows_here.halo_rows(transposed=way) for way in (False, True)]
    assert {len(rows) for rows in map(job.plan.rows_of, entries)} == {
        count // 4, *(-(-rows // config.cores) for rows in with_others)}


def test_no_entry_is_opened_twice_in_a_step():
    """Layers with jumping knowledge share entries, whatever program stores a tensor first."""
    pieces = compile_pieces(part(COMBINE, dropout=0.5), CONFIG)
    opened = [fields["o"] for piece in (FORWARD, BACKWARD) for entry, _ in pieces.parts(piece)
              for fields in map(decode, pieces.job.instructions(entry))
              if fields["opcode"] in (Opcode.DRAIN, Opcode.LOSS) and fields["open"]]
    assert len(opened) == len(set(opened))


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_dropout_of_shared_rows_goes_by_a_list_of_ranks(dropout):
    """It has the rank of each row; instructions name that of their first row."""
    count, config = 300, CONFIG.replace(channel_words=1 << 14, program_rows=4096)
    model = small_model(small_graph(count), hidden=(4, 5), config=config, orders=COMBINE,
                        dropout=dropout)
    _, other = parts_of(model.sample, Division.count(
        model.sample.edges[0], np.random.default_rng(0).integers(2, size=count), 2))
    job = compile_pieces(model.with_sample(other), config).job
    fields = [one for one in map(decode, job.program) if one.get("dropout")]
    if not dropout:
        assert RANKS not in job.regions
        assert not fields
        return
    region = job.regions[RANKS]
    for one in fields:
        assert one["ranked"]
        assert one["ranks"] == region.address + one.get("row_start", 0) // config.ranks_in_word
    assert {one["opcode"] for one in fields} == {Opcode.MATMUL, Opcode.GRADIENT, Opcode.DRAIN}
    assert len({one["ranks"] for one in fields}) == len(job.plan.vertices[0].strips) > 1
    for core, image in enumerate(job.images):
        found = dict(image)[RANKS].ravel()
        own = deal(other.rows_here.ranks, core, config)
        np.testing.assert_array_equal(found[:len(own)], own)
        assert len(dict(image)[RANKS]) <= region.words


def test_what_does_not_fit():
    with pytest.raises(CapacityError, match="channel_words is 64, but"):
        compile_pieces(small_model(config=CONFIG), CONFIG.replace(channel_words=64))


@pytest.mark.parametrize("model", ["gcnii", "gcn"])
def test_a_run_of_a_deep_network_needs_its_own_entries_only(model):
    """All layers have more tensors than the exponent file holds."""
    model = named_model(model, hidden=(4,) * 10, config=SMALL)
    layers = len(model.network.layers)
    config = SMALL.replace(tensors=64, program_rows=4096, channel_words=4096, weight_rows=512)
    with pytest.raises(CapacityError, match="tensors is 64"):
        compile_job(model, config)
    for first in range(1, layers + 1, 4):
        run = range(first, min(first + 4, layers + 1))
        job = compile_pieces(model, config, layers=run).job
        assert job.exponents.keys() == job.tensors.keys()
        assert {name.layer for name in job.tensors} <= {0, 1, *range(run[0] - 1, run[-1] + 1)}


@pytest.mark.parametrize("name", [
    name for name, case in CASES.items() if case.get("form") in ("runs", "shared")])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
