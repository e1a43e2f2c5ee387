# SPDX-License-Identifier: BSD-2-Clause
"""Programs take operands only from buffer entries that hold them."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.samples import SampleMaker
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.models import model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import Bypass, Engine, Opcode, OperandSource, decode
from tests.host.models import SMALL, left_channel, small_graph, small_model
from tests.host.noted_programs import noted, summary

CONFIG = SMALL.replace(weight_rows=1024, channel_words=16384, program_rows=2048, tensors=64)


def passes(model, config):
    """The job, and decoded instructions: of loading and a training step, and an evaluation."""
    job = compile_job(model, config)
    load = job.instructions("load") if "load" in job.starts else []
    return job, [[decode(word) for word in [*load, *job.instructions(entry)]]
                 for entry in ("train", "evaluate")]


def operands(program):
    """The instructions with a left operand from memory or buffer."""
    return [entry for entry in program
            if entry["opcode"] in (Opcode.MATMUL, Opcode.GRADIENT) and not entry.get("ones")]


def tensor(entry, job):
    """Name and region of an instruction's left operand; the index stands for X."""
    if entry["sparse"]:
        return "X"
    channel = left_channel(entry)
    return next(region.name for region in job.regions.values()
                if region.columns and region.channel == channel
                and 0 <= entry["address"] - region.address < region.words)


def drained(entry, job):
    """Name of the matrix that a DRAIN writes."""
    return next(region.name for region in job.regions.values()
                if region.columns and region.channel == entry["channel"]
                and 0 <= entry["address"] - region.address < region.words)


def check_bypassed(program, job):
    """Rows to be sent and right operands are those that were kept, once they are there."""
    rows = -(-job.vertices // job.config.cores)
    stored = {Bypass.RIGHT: {}, Bypass.SEND: {}}
    taken, storing = {Bypass.RIGHT: set(), Bypass.SEND: set()}, None
    for entry in program:
        opcode, waited = entry["opcode"], entry["waits"] >> Engine.VECTOR & 1
        if opcode in (Opcode.DRAIN, Opcode.LOSS, Opcode.UPDATE):
            storing = set()
        elif waited:
            storing = None
        if opcode in (Opcode.DRAIN, Opcode.LOSS):
            channel, address = (entry["channel"], entry["address"]) if opcode == Opcode.DRAIN \
                else (1, entry["destination"])
            for target, base in ((Bypass.RIGHT, "right_base"), (Bypass.SEND, "send_base")):
                if entry["bypass"] >> target & 1:
                    assert entry[base] + rows <= job.config.bypass_rows
                    stored[target] |= {entry[base] + row: (channel, address + row)
                                     for row in range(rows)}
                    storing.add((target, entry[base]))
        elif entry.get("bypassed"):
            target, place = (Bypass.SEND, (entry["channel"], entry["address"])) \
                if opcode == Opcode.AGGREGATE else (
                    Bypass.RIGHT, (entry["gradient_channel"], entry["gradient_address"]))
            base = entry["bypass_base"]
            assert [stored[target][base + row] for row in range(rows)] == [
                (place[0], place[1] + row) for row in range(rows)]
            assert entry["chained"] == (storing is not None and (target, base) in storing)
            taken[target].add(place)
    return {target: len(places) for target, places in taken.items()}


def counts_of(entry, job):
    """The rows that an instruction processes on each core."""
    return tuple(min(max(table[entry["vertices"]] - entry.get("row_start", 0), 0),
                     entry.get("row_limit", 1 << 20)) for table in job.row_table)


def check(program, job):
    """Simulate the buffer, entry by entry; a word also knows which one is the last."""
    config = job.config
    entries = {}
    for entry in program:
        if entry["opcode"] == Opcode.DRAIN:  # what it writes is no longer what was kept
            count = max(counts_of(entry, job))
            written = {(region.name, entry["address"] + row) for region in job.regions.values()
                       if region.columns and region.channel == entry["channel"]
                       for row in range(count)}
            entries = {place: value for place, value in entries.items()
                       if value[:2] not in written}
            if entry["bypass"] >> Bypass.LEFT & 1:
                name = drained(entry, job)
                entries |= {entry["left_base"] + row: (
                    name, entry["address"] + row, counts_of(entry, job)) for row in range(count)}
        if entry not in operands([entry]) or entry["operand"] == OperandSource.MEMORY:
            continue
        name, strip = tensor(entry, job), entry.get("row_start", 0)
        count, region = max(counts_of(entry, job)), job.regions[name]
        if entry["sparse"]:
            places = {entry["operand_base"]: (name, entry["address"], counts_of(entry, job))}
        else:
            assert count <= entry["operand_stride"]
            first = entry["address"] - strip
            places = {entry["operand_base"] + panel * entry["operand_stride"] + row:
                      (name, first + panel * region.stride + strip + row, counts_of(entry, job))
                      for panel in range(entry["panels"]) for row in range(count)}
        assert all(0 <= place < config.operand_words for place in places)
        if entry["operand"] == OperandSource.FILL:
            assert all(entries.get(place, value)[0] == value[0]
                       for place, value in places.items()), "another tensor's entries"
            entries |= places
        else:
            assert all(entries.get(place) == value for place, value in places.items())


@pytest.mark.grid
@pytest.mark.parametrize("vertices", [3, pytest.param(32, marks=pytest.mark.slow), 70])
@pytest.mark.parametrize("orders", [COMBINE_FIRST, (COMBINE_FIRST, AGGREGATE_FIRST),
                                    AGGREGATE_FIRST])
@pytest.mark.parametrize("words", [16, pytest.param(64, marks=pytest.mark.slow), 1024])
def test_entries_hold_what_is_taken(vertices, orders, words):
    dropout = 0.0 if orders == AGGREGATE_FIRST else 0.5
    model = small_model(small_graph(vertices, features=37), hidden=(9,), orders=orders,
                        dropout=dropout)
    job, programs = passes(model, CONFIG.replace(operand_words=words))
    for program in programs:
        check(program, job)
        check_bypassed(program, job)


@pytest.mark.parametrize("words", [64, 1024])
def test_roots_are_fewer_than_the_rows_they_are_among(words):
    """Gradients of root weights take the first rows of their inputs, others all of them."""
    graph = small_graph(40, features=37)
    network = model_network("sage", 37, (9,), 3, dropout=0.0)
    recipe = Recipe(normalisation="neighbours", weight_decays=(0.0,))
    sampler = NeighbourSampler(graph.normalise("neighbours"), np.arange(40), (2, 2), batch_size=8)
    sample = SampleMaker(network, recipe, graph, sampler)(sampler.batch(0, 0))
    assert len(set(sample.rows)) == 3
    job, programs = passes(InitialModel.of(network, recipe, sample),
                           CONFIG.replace(operand_words=words))
    for program in programs:
        check(program, job)


def test_what_fits_is_read_once():
    model = small_model(small_graph(30, features=9), hidden=(9,))
    job, (train, _) = passes(model, CONFIG.replace(operand_words=1024))
    reads = [(tensor(entry, job), entry["address"] + panel * entry["stride"])
             for entry in operands(train) if entry["operand"] != OperandSource.BUFFER
             for panel in range(entry["panels"])]
    assert len(set(reads)) == len(reads) == job.regions["X"].panels


@pytest.mark.parametrize("rows,expected", [(512, 5 + 2 + 5), (16, 0)])
def test_what_fits_is_kept_for_its_next_use(rows, expected):
    """T1 (5 panels), T2 (2) and dZ1 (5) to be sent, dT2, dT1 and dZ1 as right operands; not dZ2.

    LOSS keeps nothing that has several panels.
    """
    model = small_model(small_graph(32, features=9), hidden=(9,))
    job, (train, _) = passes(model, CONFIG.replace(bypass_rows=rows))
    assert set(check_bypassed(train, job).values()) == {expected}


def test_nothing_fits():
    model = small_model(small_graph(34, features=40), hidden=(9,))
    _, programs = passes(model, CONFIG.replace(operand_words=16, accumulator_rows=32))
    assert {entry["operand"] for program in programs for entry in operands(program)} == {
        OperandSource.MEMORY}


@pytest.mark.parametrize("features,portions", [(30, 1), (40, 2), (75, 3)])
def test_word_sparse_operands(features, portions):
    """A run of panels begins at the same entry in every core, so gradients know where."""
    values = np.zeros((30, features))
    values[::7, ::5] = 1.0
    graph = Graph.from_edges([[v, v + 1] for v in range(29)], scipy.sparse.csr_array(values),
                             np.arange(30) % 3, train=range(0, 30, 2))
    job, (train, evaluate) = passes(small_model(graph, hidden=(3,)),
                                    CONFIG.replace(operand_words=256))
    check(train, job)
    check(evaluate, job)
    gradients = [entry for entry in train if entry["opcode"] == Opcode.GRADIENT
                 and entry["sparse"]]
    assert all(entry["operand"] == OperandSource.BUFFER for entry in gradients)
    assert len({entry["operand_base"] for entry in gradients}) > portions - 1


@pytest.mark.parametrize("name", [
    "plain", "nothing bypassed", "two bypassed panels", "residual", "several strips"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
