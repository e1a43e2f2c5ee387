# SPDX-License-Identifier: BSD-2-Clause
"""A chip trains on one sample after the other, with one program, as the reference does."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job, compile_sampled
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.graphs.sampling.draws import EdgeDraw, NodeDraw, RandomWalkDraw
from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.saint import SaintSampler
from hypercast.host.graphs.sampling.samples import SampleMaker
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.comparison import Comparison, compare
from hypercast.host.runtime.epochs import Epochs
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.single_device import SingleDevice
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR, Layer, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Mantissas
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.isa import Split
from hypercast.rtl.registers import Status, register
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import CHIPS, WIDE, random_graph

DRAWS = {"nodes": NodeDraw, "edges": EdgeDraw, "walks": partial(RandomWalkDraw, length=2)}


def samples_of(network, recipe, name, *, draw=None, vertices=90):
    """Two epochs of samples of a random graph: of neighbours, or of GraphSAINT's."""
    graph = random_graph(vertices, 3 * vertices, features=7, classes=5, isolated=3, seed=3)
    matrix = graph.normalise(MODELS[name].normalisation)
    layers = sum(layer.order != LINEAR for layer in network.layers)
    if draw:
        sampler = SaintSampler(matrix, DRAWS[draw](matrix, vertices // 6), layers=layers,
                               coverage=3, seed=5)
    else:
        targets = np.flatnonzero(graph.splits == Split.TRAIN)
        sampler = NeighbourSampler(matrix, targets, (3, 2, 2)[:layers],
                                   batch_size=len(targets) // 3 + 1, seed=5)
    make = SampleMaker(network, recipe, graph, sampler)
    return [make(sampler.batch(epoch, number)) for epoch in range(2)
            for number in range(len(sampler))]


def model_of(network, recipe, sample):
    return InitialModel.of(network, recipe, sample)


def network_of(name, *, order=COMBINE_FIRST, dropout=0.5, **additions):
    hidden = (6, 5, 4) if name in ("mixhop", "sign") else (6,)
    network = model_network(name, 7, hidden, 5, dropout=dropout, **additions)
    return network.with_orders(order if order in layer.orders else layer.orders[0]
                               for layer in network.layers)


def check(network, config, samples, recipe, capacity=None, *, ahead=False, resident=False,
          foreseen=None, open_chip=CxxrtlTransport):
    """Train on all samples; every word of every step must be equal.

    If steps work ahead, they do not at the end of the first half of the samples, nor at that of
    the second. Returns how often the program was compiled again.
    """
    reference, model = (replace(one, foreseen=one.foreseen | (foreseen or {})) for one in (
        model_of(network, recipe, samples[0]) for _ in range(2)))
    reference = ReferenceDevice(reference)
    notices = []
    job = compile_job(model, config, capacity=capacity or Capacity.of(samples),
                      ahead=ahead, resident=resident)
    chip = AloneChip(open_chip(config), job, model, progress=notices.append)
    total = Comparison()
    try:
        ends = len(samples) // 2, len(samples)
        for number, sample in enumerate(samples, 1):
            reference.take(sample)
            epoch = samples[:ends[0]] if number <= ends[0] else samples
            chip.take(sample, *epoch[number:number + 2] if ahead else ())
            for expected, found in zip(reference.train_step(), chip.train_step(), strict=True):
                np.testing.assert_array_equal(found, expected)
            total.add(compare(reference.snapshot(), chip.snapshot(), config.lanes))
            assert chip.state().exponents == reference.state().exponents
    finally:
        chip.close()
    assert total.words and total.equal == total.words, str(total)
    return len(notices)


@pytest.mark.parametrize(("chip", "features", "batch_size", "fan_out"), [
    ("narrow", 20, 1, 2), ("wide", 90, 4, 3), ("slow memory", 90, 4, 3), ("one core", 60, 1, 2)])
def test_panels_that_take_turns_meet_fewer_rows(chip, features, batch_size, fan_out):
    """The gradient of a layer's weights has its outputs' rows; its inputs, which do not fit the
    operand buffer, have more.
    """
    graph, config = random_graph(60, 150, features=features, classes=4, seed=1), CHIPS[chip]
    recipe = Recipe(normalisation=MODELS["sage"].normalisation, weight_decays=(0.0,),
                    element_width=config.element_width)
    network = model_network("sage", features, (3, 3), 4)
    sampler = NeighbourSampler(
        graph.normalise(recipe.normalisation), np.flatnonzero(graph.splits == Split.TRAIN),
        [fan_out] * 3, batch_size=batch_size, seed=0)
    make = SampleMaker(network, recipe, graph, sampler)
    check(network, config, [make(sampler.batch(0, number)) for number in range(2)], recipe)


@pytest.mark.grid
@pytest.mark.parametrize("order", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("draw", [None, *DRAWS])
@pytest.mark.parametrize("name", MODELS)
def test_samplers_and_models(name, draw, order):
    network = network_of(name, order=order, dropout=0.5 if order == COMBINE_FIRST else 0.0)
    recipe = Recipe(normalisation=MODELS[name].normalisation, weight_decays=(0.0,))
    if network.jumping and draw is None:
        with pytest.raises(ValueError, match="all layers must have the same vertices"):
            samples_of(network, recipe, name)
        return
    check(network, WIDE, samples_of(network, recipe, name, draw=draw), recipe)


@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
def test_configurations(config):
    network = network_of("gcn")
    recipe = Recipe(element_width=config.element_width)
    check(network, config, samples_of(network, recipe, "gcn"), recipe)


@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
@pytest.mark.parametrize("draw", [None, "nodes"])
def test_steps_that_work_ahead(config, draw):
    """Rectangular blocks and subgraphs; in the layers above, combining and aggregating first."""
    orders = AGGREGATE_FIRST, COMBINE_FIRST, AGGREGATE_FIRST
    widths = pairwise([7, 6, 6, 5])
    network = Network(layers=tuple(
        Layer(features_in=inputs, features_out=outputs, order=order, dropout=dropout)
        for (inputs, outputs), order, dropout in zip(widths, orders, (0, 0.5, 0.5), strict=True)))
    recipe = Recipe(element_width=config.element_width)
    check(network, config, samples_of(network, recipe, "gcn", draw=draw), recipe, ahead=True)


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("config", CHIPS.values(), ids=CHIPS.keys())
@pytest.mark.parametrize("draw", [None, "nodes"])
def test_features_that_stay(config, draw, ahead):
    """The whole graph's features are loaded once; a batch names rows of them."""
    network = Network.of_widths([7, 6, 5], orders=AGGREGATE_FIRST)
    recipe = Recipe(element_width=config.element_width)
    samples = samples_of(network, recipe, "gcn", draw=draw)
    check(network, config, samples, recipe, ahead=ahead, resident=True)


@pytest.mark.parametrize("addition", ["jumping", "residual"])
def test_rows_that_are_added_while_features_stay(addition):
    """In other layers than the first; their send lists name no rows."""
    network = model_network("gcn", 7, (6, 6), 5, dropout=0.0, **{addition: True})
    network = network.with_orders(AGGREGATE_FIRST if AGGREGATE_FIRST in layer.orders
                                  else layer.orders[0] for layer in network.layers)
    recipe = Recipe(weight_decays=(0.0,))
    samples = samples_of(network, recipe, "gcn", draw="nodes", vertices=60)[:6]
    check(network, WIDE, samples, recipe, ahead=True, resident=True)


class Watched(CxxrtlTransport):
    """A chip with a bulk port that counts the bytes it is brought, by whether a program runs."""

    def __init__(self, config):
        super().__init__(config, bulk=True)
        self.brought = {True: [], False: []}

    def write_bulk(self, address, data):
        running = bool(Status(self.read(register("status"))) & Status.RUNNING)
        self.brought[running].append(len(data))
        super().write_bulk(address, data)


@pytest.mark.parametrize("draw", [None, "nodes"])
def test_lists_come_while_a_step_runs(draw):
    """For all steps but the first of an epoch, and those before which nobody knew what comes."""
    network, recipe = network_of("gcn", order=AGGREGATE_FIRST, dropout=0.0), Recipe()
    samples, chips = samples_of(network, recipe, "gcn", draw=draw), []

    def open_chip(config):
        chips.append(Watched(config))
        return chips[-1]

    assert not check(network, WIDE, samples, recipe, ahead=True, resident=True,
                     open_chip=open_chip)
    [chip] = chips
    # Two lists of three matrices, and labels, of all cores at once, for each step but the last of
    # an epoch.
    most = (2 * 3 + 1) * (len(samples) - 2)
    assert most / 2 < len(chip.brought[True]) <= most


def test_a_batch_that_nobody_announced():
    """Another sample than was brought, the same one again, and one that is too large."""
    network, recipe = network_of("gcn", order=AGGREGATE_FIRST, dropout=0.0), Recipe()
    small, large, *others = sorted(samples_of(network, recipe, "gcn"),
                                   key=lambda sample: sample.edges[0].nnz, reverse=True)[::-1]
    model = model_of(network, recipe, small)
    reference = ReferenceDevice(model_of(network, recipe, small))
    job = compile_job(model, WIDE, capacity=Capacity(rows=small.rows, edges=1.0), ahead=True,
                      resident=True)
    chip, total = AloneChip(CxxrtlTransport(WIDE), job, model), Comparison()
    try:
        for taken in ((small, small, small), (small, small, large), (small, large, small),
                      (others[-1], small, large), (small,), (), (), (large, small, others[0])):
            if taken:
                reference.take(taken[0])
                # What takes the place of lists that were brought does away with them.
                for other in (taken, (others[0], small), taken):
                    chip.take(*other)
            reference.train_step()
            chip.train_step()
            total.add(compare(reference.snapshot(), chip.snapshot(), WIDE.lanes))
    finally:
        chip.close()
    assert total.words and total.equal == total.words, str(total)


class Source:
    """Two epochs of given samples."""

    def __init__(self, samples):
        self.first = samples[0]
        self._samples = samples

    def __len__(self):
        return len(self._samples) // 2

    def epoch(self, number, numbers=None):
        return (self._samples[number * len(self) + one] for one in numbers)


def test_epochs_on_a_chip_work_ahead():
    """Also after a state was loaded; bits are the same, and cycles fewer."""
    network, recipe = network_of("gcn", order=AGGREGATE_FIRST, dropout=0.0), Recipe()
    samples = samples_of(network, recipe, "gcn", draw="nodes", vertices=120)
    states, cycles = [], []
    for ahead in (False, True):
        model = model_of(network, recipe, samples[0])
        job = compile_sampled(model, WIDE, Capacity.of(samples), ahead=ahead)
        assert job.ahead == ahead
        chip = AloneChip(CxxrtlTransport(WIDE), job, model)
        device = SingleDevice(chip, Epochs(Source(samples), judge=dict))
        try:
            device.train_step()
            begun = device.state()
            device.train_step()
            states.append(device.state())
            cycles.append(chip.train_cycles)
            device.load_state(begun)
            device.train_step()
            states.append(device.state())
        finally:
            device.close()
    for state in states[1:]:
        assert state.exponents == states[0].exponents
        assert state.momentum_exponents == states[0].momentum_exponents
        for name, arrays in states[0].parameters.items():
            for kind, values in arrays.items():
                np.testing.assert_array_equal(state.parameters[name][kind], values)
    assert cycles[1] < cycles[0]


@pytest.mark.parametrize("draw", [None, "nodes"])
def test_samples_larger_than_the_room_of_steps_that_work_ahead(draw):
    network, recipe = network_of("gcn", order=AGGREGATE_FIRST, dropout=0.0), Recipe()
    samples = sorted(samples_of(network, recipe, "gcn", draw=draw),
                     key=lambda sample: sample.edges[0].nnz)
    assert check(network, WIDE, samples, recipe, Capacity(rows=samples[0].rows, edges=1.0),
                 ahead=True)


def test_raised_exponents_of_sums_that_are_made_ahead():
    """What is foreseen of the second step is known when the first one makes its sums."""
    network, recipe = network_of("gcn", order=AGGREGATE_FIRST, dropout=0.0), Recipe()
    samples = samples_of(network, recipe, "gcn")
    sums = Tensor(Kind.AGGREGATED, 1)
    exponent, _ = model_of(network, recipe, samples[0]).state.exponents[sums]
    check(network, WIDE, samples, recipe, ahead=True, foreseen={sums: exponent + 3})


def test_sums_of_nothing():
    """Sums that are all zero have no peak: the exponent stays that of the step before."""
    network, recipe = network_of("gcn", order=AGGREGATE_FIRST, dropout=0.0), Recipe()
    samples = samples_of(network, recipe, "gcn")
    for number, factor in ((-4, 0), (-3, 1 / 64), (-2, 0)):
        features = samples[number].features
        samples[number] = replace(samples[number], features=Mantissas(
            (factor * features.values).astype(np.int64), features.exponent))
    check(network, WIDE, samples, recipe, ahead=True)


def test_jumping_knowledge_on_subgraphs():
    network = network_of("gcn", jumping=True)
    recipe = Recipe()
    check(network, WIDE, samples_of(network, recipe, "gcn", draw="nodes"), recipe)
    with pytest.raises(ValueError, match="sample subgraphs instead"):
        samples_of(network, recipe, "gcn")


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_samples_larger_than_the_room(optimiser):
    """Momenta, exponents and the number of steps go on in the program that has more."""
    network, recipe = network_of("gcn"), Recipe(optimiser=optimiser, learning_rates=(0.01,))
    samples = sorted(samples_of(network, recipe, "gcn"), key=lambda sample: sample.edges[0].nnz)
    assert 0 < check(network, WIDE, samples, recipe, Capacity(rows=samples[0].rows, edges=1.0)) < 6


@pytest.mark.parametrize("order", [(0, 1), (1, 0, 1)])
@pytest.mark.parametrize("known", [1, 3], ids=["one is known", "all are known"])
def test_samples_whose_layers_have_the_same_vertices_by_chance(order, known):
    """Samples of isolated vertices are listed as all others are, in the same regions."""
    network = model_network("gcn", 7, (6, 6), 5, dropout=0.5, residual=True)
    graph, recipe = random_graph(90, 270, features=7, classes=5, isolated=30, seed=3), Recipe()
    matrix = graph.normalise(MODELS["gcn"].normalisation)
    samplers = [NeighbourSampler(matrix, targets, (3, 2, 2), batch_size=20)
                for targets in (np.arange(70, 90), np.arange(20))]
    make = SampleMaker(network, recipe, graph, samplers[1])
    samples = [make(samplers[number].batch(0, 0)) for number in order]
    assert [sample.square for sample in samples] == [not number for number in order]
    again = check(network, WIDE, samples, recipe, Capacity.of(samples[:known]))
    assert again == (known == 1 and order[0] == 0)
