"""Programs of small trainings of every kind, and the digests that are noted of them.

Programs are those of `hypercast bench model`, whose figures are about them; so a change is one of
cycles. To note them anew: ``python -m tests.host.noted_programs``.
"""

import functools
import hashlib
import itertools
import json
from pathlib import Path

import numpy as np

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, Recipe
from hypercast.rtl.config import Config
from hypercast.rtl.isa import decode

__all__ = ["CASES", "noted", "summary"]

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
}


@functools.cache
def _trained(name):
    """The model and the configuration of a case."""
    case = dict(CASES[name])
    generator = np.random.default_rng(5)
    model, order = case.pop("model", "gcn"), case.pop("order", COMBINE_FIRST)
    features, density = case.pop("features", 21), case.pop("density", 1.0)
    hidden, dropout = case.pop("hidden", (10,)), case.pop("dropout", 0.0)
    additions, several = case.pop("additions", {}), case.pop("several", False)
    optimiser = case.pop("optimiser", "sgd")
    vertices = 75
    values = (generator.random((vertices, features)) < density) * generator.integers(
        1, 9, (vertices, features))
    values[0, 0] = 1
    labels = generator.random((vertices, 6)) < 0.4 if several else np.arange(vertices) % 6
    graph = Graph.from_edges(generator.integers(0, vertices, (3 * vertices, 2)), values, labels,
                             train=np.arange(0, vertices, 2), validation=np.arange(1, vertices, 4))
    network = model_network(model, features, hidden, 6, dropout=dropout, **additions)
    orders = itertools.cycle([order] if isinstance(order, str) else order)
    network = network.ordered(
        order if order in layer.orders else layer.orders[0]
        for layer, order in zip(network.layers, orders, strict=False))
    config = _CONFIG.replace(**case)
    recipe = Recipe(epochs=2, normalisation=MODELS[model], optimiser=optimiser,
                    element_width=config.element_width,
                    **({"loss": BINARY_CROSS_ENTROPY} if several else {}))
    return prepare(graph, network, recipe), config


@functools.cache
def summary(name):
    """What is noted of a case: digests of the program and of where things lie, and cycles.

    How much headroom exponents leave is no matter of the compiler.
    """
    model, config = _trained(name)
    job = compile_job(model, config)
    program = [sorted((key, int(value)) for key, value in decode(word).items() if key != "headroom")
               for word in job.program]
    regions = sorted((key, region.channel, region.address, region.words, region.stride)
                     for key, region in job.regions.items())
    lists = [sorted((key, words.tolist()) for key, words in image if key.startswith("send list"))
             for image in job.images]
    rest = [job.row_table, job.messages, job.deliveries, job.edges, float(job.imbalance),
            sorted(job.entries.items()), [*map(str, job.phases)], sorted(job.tensors.items()),
            sorted((key, value.base, value.height, value.panels)
                   for key, value in job.weights.items())]
    workload = Workload.of_graph(model.sample.edges[0], model.network, config)
    phases = [(str(phase.name), phase.cycles) for phase in predict(workload).phases]
    return {"program": _digest(program), "regions": _digest(regions), "rest": _digest(rest),
            "send lists": _digest(lists), "cycles": _digest(phases)}


def _digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]


def noted(name):
    """What is noted of a case."""
    return json.loads(_NOTES.read_text())[name]


if __name__ == "__main__":
    _NOTES.write_text(json.dumps({name: summary(name) for name in CASES}, indent=1) + "\n")
