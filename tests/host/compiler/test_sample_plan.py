# SPDX-License-Identifier: BSD-2-Clause
"""Memory for samples, and devices that make more of it."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.compiler import compile_job, compile_sampled, with_sample
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.named_rows import NamedRows
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.compiler.sample_plan import SamplePlan
from hypercast.host.compiler.timing import Timing
from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.samples import SampleMaker
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.schemes.graph_parts import divide, parts_of
from hypercast.host.training.prepare import prepare, prepare_for
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.models import model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Pass
from hypercast.rtl.placement import rank_of, rows_of
from tests.host.models import SMALL, named_model, small_graph
from tests.host.runtime.fake_chip import FakeChip

CONFIG = SMALL.replace(accumulator_rows=32, channel_words=4096, program_rows=512)
RECIPE = Recipe(normalisation="mean")


def samples_of(*sizes, vertices=300):
    """A sample of a ring for each number of targets; all have one unit of loss weights."""
    graph = small_graph(vertices)
    network = Network.of_widths([5, 4, 3])
    sampler = NeighbourSampler(graph.normalise("mean"), np.arange(vertices), (2, 2),
                               batch_size=vertices)
    make = SampleMaker(network, RECIPE, graph, sampler)
    parts = (NeighbourSampler(graph.normalise("mean"), np.arange(size), (2, 2), batch_size=size)
             for size in sizes)
    return network, [make(replace(part.batch(0, 0), loss_weights=np.full(size, 1 / vertices)))
                     for part, size in zip(parts, sizes, strict=True)]


def device_of(network, sample, config=CONFIG, capacity=True):
    """A chip that trains on a sample, with capacity for others like it, and what it tells."""
    model, notices = InitialModel.of(network, RECIPE, sample), []
    job = compile_job(model, config, capacity=Capacity.of([sample]) if capacity else None)
    return AloneChip(FakeChip(config), job, model, progress=notices.append), notices


def test_memory_is_made_once_for_all_samples_of_a_size():
    """Also for rows of a strip that the first sample had no edges in."""
    network, (small, large, other) = samples_of(20, 100, 95)
    device, notices = device_of(network, small)
    assert len(device.job.plan.vertices[0].strips) == 1
    for sample in (small, large, other, small):
        device.take(sample)
        assert device.job.rows == sample.rows
    assert len(device.job.plan.vertices[0].strips) == 2
    assert notices == [
        "a sample takes more memory than those before; compiling the program again"]


def test_the_state_stays():
    network, (small, large) = samples_of(20, 100)
    device, notices = device_of(network, small)
    for _ in range(3):
        device.train_step()
    oracle = FixedGnn.of(network, RECIPE, small)
    oracle.train_step()
    device.load_state(oracle.state())
    before = device.state()
    device.take(large)
    after = device.state()
    assert notices and after.step == before.step == 1
    for name, arrays in before.parameters.items():
        for kind, values in arrays.items():
            np.testing.assert_array_equal(after.parameters[name][kind], values)
    of_samples = {"A", "X"}
    assert {name: entry for name, entry in after.exponents.items() if name not in of_samples} == {
        name: entry for name, entry in before.exponents.items() if name not in of_samples}


@pytest.mark.parametrize("boards", [2, 3])
def test_matrices_of_a_part_have_no_rows_of_others(boards):
    """Though edges lead from these."""
    model = prepare(small_graph(60), Network.of_widths([5, 4, 3]), RECIPE)
    assert SamplePlan.rows_of_sample(model.sample) == (60,) * 3
    division = divide(model, boards)
    counts = np.bincount(division.boards)
    for count, part in zip(counts, parts_of(model.sample, division), strict=True):
        assert part.edges[0].shape[1] > count
        assert SamplePlan.rows_of_sample(part) == (count,) * 3


def test_room_grows_whenever_there_is_too_little():
    """So samples of which each takes more in another place cannot ask for it in turn forever."""
    network, [sample] = samples_of(20)
    device, _ = device_of(network, sample)
    old, new = device.job.plan.capacity, device.job.plan.capacity_for(sample)
    assert new.edges > old.edges and new.rows == old.rows


def test_memory_that_is_too_small():
    """What the chip holds stays as it is."""
    network, (small, large) = samples_of(20, 280)
    device, _ = device_of(network, small, CONFIG.replace(channel_words=1024))
    with pytest.raises(CapacityError, match="raise channel_words to"):
        device.take(large)
    device.take(small)


def test_a_job_without_capacity():
    network, (small, large) = samples_of(20, 100)
    device, notices = device_of(network, small, capacity=False)
    with pytest.raises(CapacityError, match="compile it with more capacity"):
        device.take(large)
    assert not notices


def test_regions_are_checked_too():
    """As many rows, but more edges."""
    network, (small, large) = samples_of(60, 100)
    model = InitialModel.of(network, RECIPE, small)
    job = compile_job(model, CONFIG, capacity=Capacity(rows=large.rows, edges=1.0))
    with pytest.raises(CapacityError, match=r"words, but has .* in the job; compile it"):
        with_sample(job, large)


@pytest.mark.parametrize(("order", "change", "expected"), [
    (AGGREGATE_FIRST, {}, True), (COMBINE_FIRST, {}, False),
    (AGGREGATE_FIRST, {"channel_words": 256}, False)])
def test_steps_work_ahead_where_they_can(order, change, expected):
    """Not if it depends on weights what is aggregated, or if there is no room."""
    network, (small, other) = samples_of(13, 10)
    network = network.with_orders([order] * 2)
    model, config = InitialModel.of(network, RECIPE, small), CONFIG.replace(**change)
    for ahead in (False, True):
        job = compile_sampled(model, config, Capacity.of([small]), ahead=ahead)
        assert job.ahead == (ahead and expected)
    again = with_sample(job, small, other)
    assert (again.exponents.get("A.next") == other.edge_exponent) == expected
    levels = [list(counts) for counts in zip(*again.row_table, strict=True)]
    assert again.plan.resident == expected
    for one, number in ((small, 0), (small, 1), (other if expected else small, 0)):
        count = one.rows[number] if number or not expected else \
            NamedRows.of(one.origin.rows, config).count
        assert [rows_of(core, count, config.cores) for core in range(config.cores)] in levels
    device = AloneChip(FakeChip(config), job, model)
    if expected:
        with pytest.raises(ValueError, match="whose steps work ahead cannot evaluate"):
            device.evaluate()


def test_sums_that_no_step_has_left_are_made_by_a_program_of_their_own():
    network, (small, other) = samples_of(20, 15)
    model = InitialModel.of(network.with_orders([AGGREGATE_FIRST] * 2), RECIPE, small)
    job = compile_sampled(model, CONFIG, Capacity.of([small]), ahead=True)
    device, runs = AloneChip(FakeChip(CONFIG), job, model), []
    run = device.driver.run
    device.driver.run = lambda entry, **options: runs.append(entry) or run(entry, **options)

    def step(*samples):
        runs.clear()
        if samples:
            device.take(*samples)
        device.train_step()
        return len(runs)

    state = device.state()
    assert all(name.during != Pass.NEXT for name in state.exponents)
    assert [step(), step(), step(small, other), step(other, small)] == [2, 1, 1, 1]
    assert [step(other), step(other), step(small), step(other)] == [2, 1, 2, 2]
    device.load_state(state)
    assert [step(), step()] == [2, 1]
    # Each of them takes as many cycles.
    assert device.train_cycles == device.driver.monitor.cycles() * (10 + 5)


@pytest.mark.parametrize(("name", "additions"), [
    ("gcn", {}), ("gcn", {"residual": True, "hidden": (3, 3)}), ("sage", {})])
def test_traffic_is_that_of_the_adjacency(name, additions):
    """Traffic is that of the first forward matrix of neighbours, not of roots or its transpose."""
    ends = [[0, target] for target in range(1, 9)]
    graph = small_graph(edges=ends, directed=True)
    model = named_model(name, graph, config=CONFIG, **additions)
    job = compile_job(model, CONFIG)
    matrix = model.sample.edges[0]
    assert job.edges == matrix.nnz
    assert job.messages == np.count_nonzero(np.diff(matrix.tocsc().indptr))
    by_core = [matrix[rank_of(core, np.arange(rows_of(core, 9, 2)), 2)].nnz for core in range(2)]
    assert job.imbalance == pytest.approx(max(by_core) * 2 / matrix.nnz)


def test_regions_have_capacity():
    """For send lists of all rows, and as many more words of edges."""
    network, [sample] = samples_of(20)
    model, capacity = InitialModel.of(network, RECIPE, sample), Capacity.of([sample])
    plain, roomy = compile_job(model, CONFIG), compile_job(model, CONFIG, capacity=capacity)
    for name, region in roomy.regions.items():
        if name.startswith("send list"):
            level = next(level for level in roomy.plan.vertices
                         if -(-level.rows * CONFIG.send_record_width // CONFIG.word_width)
                         == region.words)
            assert level.count in capacity.rows
        if name.startswith("edge set"):
            assert region.words == math.ceil(plain.regions[name].words * capacity.edges) + \
                CONFIG.streams


def test_edges_of_something_else_are_refused():
    """What was compiled is taken for the same matrices and configuration."""
    graph = small_graph(40)
    network = model_network("gcn", graph.features.shape[1], (4,), graph.classes)
    model, edges = prepare_for(CONFIG, graph, network, Recipe())
    assert compile_job(model, CONFIG, edges=edges).program == compile_job(model, CONFIG).program
    room = Capacity.of([model.sample])
    roomy = compile_job(model, CONFIG, capacity=room)
    assert compile_job(model, CONFIG, capacity=room, edges=edges).program == roomy.program
    for other, config, capacity in itertools.product(
            (model, prepare(graph, network, Recipe())), (CONFIG, CONFIG.replace(read_buffer=8)),
            (None, room)):
        if other is not model or config is not CONFIG:
            with pytest.raises(ValueError, match="for another sample or configuration"):
                compile_job(other, config, capacity=capacity, edges=edges)


def test_edges_without_any_take_no_words():
    """Then no core is busier than another."""
    model = named_model("sage", small_graph(edges=np.zeros((0, 2), dtype=int)), config=CONFIG)
    job = compile_job(model, CONFIG)
    assert (job.edges, job.messages, job.deliveries, job.imbalance) == (0, 0, 0, 1.0)


@pytest.mark.parametrize("options", [{}, {"ahead": True, "resident": True}])
def test_samples_of_a_pool_are_compiled_once(options, monkeypatch):
    """Samples without a number are compiled whenever they come; the images are the same."""
    network, samples = samples_of(20, 30, 25)
    network = network.with_orders([AGGREGATE_FIRST] * 2)
    pool = [replace(sample, number=number) for number, sample in enumerate(samples)]
    counted, of = [], CompiledEdges.of_list
    monkeypatch.setattr(CompiledEdges, "of_list", lambda *arguments, **named: (
        counted.append(arguments), of(*arguments, **named))[1])
    capacity, found = Capacity.of(samples), {}
    for kind, chosen in (("pool", pool), ("plain", samples)):
        job = compile_job(InitialModel.of(network, RECIPE, chosen[0]), CONFIG, capacity=capacity,
                          **options)
        counted.clear()
        for turn in (0, 1, 2, 1, 0, 2, 0, 1):
            # Another object each time, as those that make them give it.
            made = with_sample(job, replace(chosen[turn]), replace(chosen[turn]))
            found.setdefault(kind, []).append(made.images)
        assert len(counted) == (2 if kind == "pool" else (16 if options else 8))
    for one, other in zip(*found.values(), strict=True):
        for image, expected in zip(one, other, strict=True):
            assert [name for name, _ in image] == [name for name, _ in expected]
            for (_, words), (_, expected_words) in zip(image, expected, strict=True):
                np.testing.assert_array_equal(words, expected_words)


def test_another_exponent_of_edge_weights_is_another_sample():
    network, [sample] = samples_of(20)
    sample = replace(sample, number=0)
    job = compile_job(InitialModel.of(network, RECIPE, sample), CONFIG,
                      capacity=Capacity.of([sample]))
    rounded = sample.with_edge_exponent(sample.edge_exponent + 3)
    for one in (sample, rounded):
        images, plain = with_sample(job, one).images, with_sample(job, replace(
            one, number=None)).images
        for image, expected in zip(images, plain, strict=True):
            for (_, words), (_, expected_words) in zip(image, expected, strict=True):
                np.testing.assert_array_equal(words, expected_words)


def test_lists_of_resident_features_name_rows_once(monkeypatch):
    """However many strips their sums have, and whatever is faster."""
    monkeypatch.setattr(Timing, "prefers_names", lambda timing, load: True)
    network, (small, _) = samples_of(60, 10)
    model = InitialModel.of(network.with_orders([AGGREGATE_FIRST] * 2), RECIPE, small)
    config = CONFIG.replace(accumulator_rows=16, channel_words=8192)
    [one, other] = (compile_job(model, config, resident=True, **capacity)
                    for capacity in ({}, {"capacity": Capacity.of([small])}))
    names = [name for name, _ in one.images[0] if name.startswith("send list")]
    assert len(names) > 1
    for first, second in zip(one.images, other.images, strict=True):
        found, expected = dict(first), dict(second)
        for name in names:
            assert np.array_equal(found[name], expected[name])
