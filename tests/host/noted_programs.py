# SPDX-License-Identifier: BSD-2-Clause
"""Digests of programs and of reference states: small trainings of every kind.

Programs are those of `hypercast bench model`, whose figures are about them; so a change is one of
cycles. A state is what a training's bits are after a few steps; exponents follow from the recipe,
so a change of its defaults is one, too. To note them anew: ``python -m tests.host.noted_programs``.
"""

import functools
import hashlib
import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from hypercast.host.cluster.division import Division
from hypercast.host.compiler.compiler import compile_job, with_sample
from hypercast.host.compiler.evaluation import compile_evaluation
from hypercast.host.compiler.pieces import compile_pieces
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.sampling.neighbour import NeighbourSampler
from hypercast.host.graphs.sampling.samples import SampleMaker
from hypercast.host.schemes.graph_parts import parts_of
from hypercast.host.training.prepare import prepare
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, Recipe
from hypercast.reference.sample import Mantissas
from hypercast.rtl.config import Config
from hypercast.rtl.isa import decode

__all__ = ["CASES", "STATES", "jobs", "noted", "noted_state", "state", "summary", "trained"]

_NOTES = Path(__file__).with_name("noted_programs.json")
_CONFIG = Config(dimensions=1, lanes=4, planes=1, accumulator_rows=64, channel_words=2**15,
                 operand_words=256, bypass_rows=128, program_rows=2048, weight_rows=4096,
                 tensors=64, read_buffer=8)

#: Name to what is other than in the first one.
CASES = {
    "plain": {},
    "aggregated first": {"order": AGGREGATE_FIRST, "dropout": 0.0},
    "dropout and Adam": {"dropout": 0.4, "optimiser": "adam"},
    "nothing bypassed": {"operand_words": 16, "bypass_rows": 16},
    "two bypassed panels": {"operand_words": 64, "bypass_rows": 64, "hidden": (12, 9)},
    "several strips": {"accumulator_rows": 16, "hidden": (9,)},
    "strips of blocks": {"accumulator_rows": 16, "aggregation_rows": 32, "hidden": (9,)},
    "word-sparse": {"density": 0.02, "features": 90},
    "word-sparse, not held": {"density": 0.02, "features": 300, "operand_words": 16},
    "several labels": {"several": True, "dropout": 0.3},
    "one core": {"dimensions": 0},
    "sixteen cores": {"dimensions": 4, "planes": 4, "eject": 2, "element_width": 8},
    "slow memory": {"memory_latency": 20, "memory_stalls": True, "lanes": 2},
    "GraphSAGE": {"model": "sage", "dropout": 0.5},
    "GIN": {"model": "gin", "hidden": (8,)},
    "residual": {"hidden": (8, 8, 8), "additions": {"residual": True}},
    "jumping": {"hidden": (8, 5), "dropout": 0.5, "additions": {"jumping": True}},
    "orders that differ": {
        "hidden": (9, 12, 5), "order": (AGGREGATE_FIRST, COMBINE_FIRST, AGGREGATE_FIRST)},
    "jumping in strips": {
        "model": "sage", "hidden": (6, 5), "dropout": 0.5, "additions": {"jumping": True},
        "accumulator_rows": 32, "optimiser": "adam"},
    "GCNII": {"model": "gcnii", "hidden": (8, 8, 8), "dropout": 0.5},
    "MixHop": {"model": "mixhop", "hidden": (7, 5, 6, 5), "dropout": 0.5},
    "SIGN": {"model": "sign", "hidden": (7, 5, 6), "dropout": 0.5},
    "SIGN, aggregated first": {"model": "sign", "hidden": (7, 5, 6), "order": AGGREGATE_FIRST},
    "runs of SIGN": {"model": "sign", "hidden": (7, 5, 6), "dropout": 0.5, "form": "runs"},
    "shared rows of SIGN": {
        "model": "sign", "hidden": (7, 5, 6), "order": AGGREGATE_FIRST, "form": "shared"},
    "step in pieces": {"hidden": (9,), "dropout": 0.4, "form": "pieces"},
    "runs of layers": {"model": "sage", "hidden": (6, 5, 6), "dropout": 0.5, "form": "runs"},
    "runs of GCNII": {"model": "gcnii", "hidden": (8, 8, 8), "dropout": 0.5, "form": "runs"},
    "runs with jumping": {
        "hidden": (8, 8, 8), "dropout": 0.5, "form": "runs",
        "additions": {"jumping": True, "residual": True}},
    "runs of MixHop": {"model": "mixhop", "hidden": (7, 5, 6, 5), "form": "runs"},
    "shared rows": {"hidden": (9, 8), "dropout": 0.4, "form": "shared"},
    "shared rows of GraphSAGE": {"model": "sage", "hidden": (9,), "form": "shared"},
    "shared rows, aggregated first": {
        "hidden": (9, 8), "order": AGGREGATE_FIRST, "form": "shared"},
    "samples": {"hidden": (9,), "dropout": 0.5, "form": "samples"},
    "samples of GIN": {"model": "gin", "hidden": (8,), "form": "samples"},
    "work ahead": {"hidden": (9,), "order": AGGREGATE_FIRST, "form": "ahead"},
    "resident features": {"hidden": (9,), "order": AGGREGATE_FIRST, "form": "resident"},
    "evaluation in parts": {"model": "sage", "hidden": (6, 5), "form": "evaluation"},
    "evaluation of GCNII in parts": {"model": "gcnii", "hidden": (8, 8), "form": "evaluation"},
}
#: Cases of which the reference's state is noted, too: each network, order, loss and optimiser.
STATES = [name for name, case in CASES.items() if case.keys() <= {
    "order", "dropout", "optimiser", "hidden", "several", "model", "additions"}]


@functools.cache
def trained(name):
    """The graph, the model and the configuration of a case."""
    case = dict(CASES[name])
    generator = np.random.default_rng(5)
    model, order = case.pop("model", "gcn"), case.pop("order", COMBINE_FIRST)
    features, density = case.pop("features", 21), case.pop("density", 1.0)
    hidden, dropout = case.pop("hidden", (10,)), case.pop("dropout", 0.0)
    additions, several = case.pop("additions", {}), case.pop("several", False)
    optimiser = case.pop("optimiser", "sgd")
    case.pop("form", None)
    vertices = 75
    values = (generator.random((vertices, features)) < density) * generator.integers(
        1, 9, (vertices, features))
    values[0, 0] = 1
    labels = generator.random((vertices, 6)) < 0.4 if several else np.arange(vertices) % 6
    graph = Graph.from_edges(generator.integers(0, vertices, (3 * vertices, 2)), values, labels,
                             train=np.arange(0, vertices, 2), validation=np.arange(1, vertices, 4))
    network = model_network(model, features, hidden, 6, dropout=dropout, **additions)
    orders = itertools.cycle([order] if isinstance(order, str) else order)
    network = network.with_orders(
        order if order in layer.orders else layer.orders[0]
        for layer, order in zip(network.layers, orders, strict=False))
    config = _CONFIG.replace(**case)
    recipe = Recipe(epochs=2, normalisation=MODELS[model].normalisation, optimiser=optimiser,
                    element_width=config.element_width,
                    **({"loss": BINARY_CROSS_ENTROPY} if several else {}))
    return graph, prepare(graph, network, recipe), config


def jobs(name):
    """The jobs of a case."""
    graph, model, config = trained(name)
    form, layers = CASES[name].get("form"), len(model.network.layers)
    if form == "runs":
        cut = [*range(1, layers + 1, 2), layers + 1]
        return [compile_pieces(model, config, layers=range(*run)).job
                for run in itertools.pairwise(cut)]
    if form == "shared":
        division = Division.count(model.sample.edges[0], np.arange(75) // 38, 2)
        return [compile_pieces(model.with_sample(part), config).job
                for part in _with_halos(model, parts_of(model.sample, division))]
    if form in ("samples", "ahead", "resident"):
        first, second = _samples(graph, model)
        options = {} if form == "samples" else {"ahead": form == "ahead", "resident": True}
        if form == "samples":
            options["pieces"] = True
        job = compile_job(InitialModel.of(model.network, model.recipe, first), config,
                          capacity=Capacity.of([first, second]), **options)
        return [job, with_sample(job, second, first)]
    if form == "evaluation":
        return [part.job for part in compile_evaluation(model, config.replace(channel_words=512))]
    return [compile_job(model, config, pieces=form == "pieces")]


def _with_halos(model, parts):
    """Parts of a graph, with the features of the rows that a first layer sums."""
    for part in parts:
        if model.network.layers[0].order == AGGREGATE_FIRST:
            rows = len(part.labels) + part.rows_here.halo_rows(transposed=False)
            values = np.arange(rows * model.network.features).reshape(rows, -1) % 7
            part = replace(part, features=Mantissas(values, part.features.exponent))
        yield part


def _samples(graph, model):
    """Two samples of neighbours, which differ in size."""
    sums = [layer for layer in model.network.layers if layer.order != LINEAR]
    sampler = NeighbourSampler(graph.normalise(model.recipe.normalisation), np.arange(60),
                               (3,) * len(sums), batch_size=30, seed=3)
    make = SampleMaker(model.network, model.recipe, graph, sampler)
    return make(sampler.batch(0, 0)), make(sampler.batch(0, 1))


@functools.cache
def summary(name):
    """What is noted of a case: digests of its programs and of where things lie, and cycles.

    How much headroom exponents leave is no matter of the compiler.
    """
    every = jobs(name)
    found = {title: _digest([of(job) for job in every] if len(every) > 1 else of(every[0]))
             for title, of in (("program", _program), ("regions", _regions), ("rest", _rest),
                               ("send lists", _lists))}
    if "form" not in CASES[name]:
        _, model, config = trained(name)
        workload = Workload.of_graph(model.sample.edges[0], model.network, config)
        found["cycles"] = _digest([(str(phase.name), phase.cycles)
                                   for phase in predict(workload).phases])
    return found


def _program(job):
    return [sorted((key, int(value)) for key, value in decode(word).items() if key != "headroom")
            for word in job.program]


def _regions(job):
    return sorted((key, region.channel, region.address, region.words, region.stride)
                  for key, region in job.regions.items())


def _lists(job):
    return [sorted((key, words.tolist()) for key, words in image if key.startswith("send list"))
            for image in job.images]


def _rest(job):
    return [job.row_table, job.messages, job.deliveries, job.edges, float(job.imbalance),
            sorted(job.starts.items()), [*map(str, job.phases)], sorted(job.tensors.items()),
            sorted((key, value.base, value.height, value.panels)
                   for key, value in job.weights.items())]


@functools.cache
def state(name):
    """What is noted of a case's reference: a digest of its state after three steps."""
    _, model, _ = trained(name)
    gnn = FixedGnn(model)
    for _ in range(3):
        gnn.train_step()
    gnn.evaluate()
    found = gnn.state()
    return _digest([
        [(name, kind, arrays[kind].tolist()) for name, arrays in sorted(found.parameters.items())
         for kind in sorted(arrays)], list(found.exponents.items()),
        sorted(gnn.saturations.items()),
        [(name, gnn.tensors[name].tolist()) for name in sorted(gnn.tensors)
         if isinstance(gnn.tensors[name], np.ndarray)]])


def _digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]


def noted(name):
    """What is noted of a case's programs."""
    return json.loads(_NOTES.read_text())["programs"][name]


def noted_state(name):
    """What is noted of a case's reference."""
    return json.loads(_NOTES.read_text())["states"][name]


if __name__ == "__main__":
    _NOTES.write_text(json.dumps({
        "programs": {name: summary(name) for name in CASES},
        "states": {name: state(name) for name in STATES}}, indent=1) + "\n")
