# SPDX-License-Identifier: BSD-2-Clause
"""Orders, and with them bits, are those of network and graph: no chip, and no board, changes them.
"""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from click.testing import CliRunner

from hypercast import Device, Graph, Model, Trainer
from hypercast.benches.board_trainings import state_digest
from hypercast.host.cli import main
from hypercast.host.cluster.description import load_cluster
from hypercast.host.cycle_model.default_orders import default_orders
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.description.description import Description
from hypercast.host.description.recipe import make_recipe
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import blocks
from hypercast.host.runtime.epochs import AHEAD_STEPS
from hypercast.host.training.ordering import (
    ordered_for_graph,
    ordered_for_numbers,
    ordered_for_samples,
)
from hypercast.host.training.planning import problem_of
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import MODELS
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe

SAMPLINGS = (Sampling(), Sampling(sampler="walks", batch=8, coverage=4.0),
             Sampling(sampler="neighbours", batch=16, fan_outs=(3,)))


def orders(network):
    return tuple(layer.order for layer in network.layers)


def random_graph(seed):
    generator = np.random.default_rng(seed)
    vertices, features = int(generator.integers(60, 300)), int(generator.integers(3, 60))
    edges = generator.integers(0, vertices, (int(vertices * generator.uniform(1, 6)), 2))
    values = (generator.random((vertices, features)) < generator.choice([0.05, 0.5, 1.0])) * 1.0
    values[:, 0] = 1
    number = np.arange(vertices)
    return Graph.from_edges(edges, values, number % 4, train=number % 2 == 0,
                            validation=number % 4 == 1, test=number % 4 == 3)


@pytest.mark.parametrize("seed", range(10))
def test_any_preset_has_the_same_orders_and_bits(seed):
    """Any model, samples and elements; presets have 2 to 16 cores, and 2 to 16 lanes."""
    generator = np.random.default_rng(seed)
    name = list(MODELS)[seed % len(MODELS)]
    graph, sampling = random_graph(seed), SAMPLINGS[generator.integers(3)]
    # These have the same vertices in all layers.
    if MODELS[name].own and sampling.sampler == "neighbours":
        sampling = SAMPLINGS[0]
    model = Model(name, hidden=int(generator.integers(2, 40)), layers=3,
                  dropout=generator.choice([0.0, 0.5]))
    width, found = int(generator.choice([8, 16])), set()
    for preset in ("tiny", "test", "demo", "cora", "vcu128", "kv260"):
        with Trainer(graph, model, Device(preset=preset, elements=width), sampling=sampling,
                     epochs=1, seed=seed, learning_rate=1e-6,
                     normalise_features=True) as trainer:
            trainer.fit()
            found.add((orders(trainer.network), state_digest(trainer.target.state())))
    assert len(found) == 1


@pytest.mark.parametrize("seed", range(3))
def test_dense_and_sparse_features_have_the_same(seed):
    graph = random_graph(seed)
    sparse = replace(graph, features=scipy.sparse.csr_array(graph.features))
    found = set()
    for one in (graph, sparse):
        with Trainer(one, Model(hidden=24, dropout=0.0), epochs=1) as trainer:
            trainer.fit()
            found.add((orders(trainer.network), state_digest(trainer.target.state())))
    assert len(found) == 1


def test_the_fastest_are_those_of_the_chip():
    """Which may differ from chip to chip."""
    graph, found = Graph(**blocks(vertices=160)), {}
    for preset in ("test", "vcu128"):
        device = Device(preset=preset, weight_rows=16384, channel_words=65536)
        with Trainer(graph, Model(hidden=24, dropout=0.0, order="fastest"), device) as trainer:
            network = Network.of_widths([graph.features.shape[1], 24, graph.classes])
            model = prepare(graph, network, trainer.recipe)
            assert orders(trainer.network) == choose_orders(
                Workload.of_model(model, device.config)).orders
            found[preset] = orders(trainer.network)
    assert all(found.values())


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("cluster", ["vcu128-4", "ulx3s-4"])
def test_plans_have_those_of_trainings(sampling, cluster):
    """Whatever boards they are for."""
    graph, cluster = Graph(**blocks(vertices=160)), load_cluster(cluster)
    model = Model(hidden=(20, 12), dropout=0.0)
    device = Device(elements=cluster.boards[0].config.element_width)
    description = Description(
        graph=None, model=model, recipe=make_recipe({}, model, device.config), sampling=sampling,
        device=device)
    problem = problem_of(description, cluster, graph, counts=())
    with Trainer(graph, model, device, sampling=sampling) as trainer:
        assert orders(problem.layers[0].network) == orders(trainer.network)


def test_commands_say_which_they_are():
    """A training, and what is predicted of it on any chip."""
    def run(command, *arguments):
        result = CliRunner().invoke(main, [command, *arguments, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout.strip().splitlines()[-1])

    graph = Graph.load("blocks")
    expected = ordered_for_graph(Network.of_widths([graph.features.shape[1], 24, graph.classes]),
                                 graph, 16)
    for preset in ("test", "cora"):
        assert tuple(run("model", "blocks", "--layers", "24", "--preset", preset,
                         "-P", "weight_rows=4096")["orders"]) == orders(expected)


def test_a_run_keeps_its_orders(tmp_path, monkeypatch):
    """Were others chosen later, it would go on with those that it began with."""
    graph, folder = Graph.load("karate"), tmp_path / "run"
    with Trainer(graph, Model(hidden=4, dropout=0.0), epochs=2, run=folder) as trainer:
        trainer.fit()
        chosen = orders(trainer.network)
    others = tuple({COMBINE_FIRST: AGGREGATE_FIRST, AGGREGATE_FIRST: COMBINE_FIRST}[one]
                   for one in chosen)
    monkeypatch.setattr("hypercast.host.training.training.ordered_for_graph",
                        lambda network, graph, width: network.with_orders(others))
    with Trainer.of_run(folder, graph=graph) as trainer:
        assert orders(trainer.network) == chosen
        trainer.evaluate()
    # A run of version 0.2.0, which kept how orders were chosen.
    path = folder / "run.toml"
    text = path.read_text()
    kept = text[text.index("order = ["):text.index("]", text.index("order = [")) + 1]
    path.write_text(text.replace(kept, 'order = "auto"'))
    with Trainer.of_run(folder, graph=graph) as trainer:
        assert orders(trainer.network) == chosen


#: Widths of networks, vertices and edges, for which it counts whether steps work ahead.
AHEAD = (((57, 60), (102, 34), (204,)), ((24, 12), (79, 26), (78,)), ((35, 79), (58, 14), (56,)))


@pytest.mark.parametrize(("micro_batches", "samples", "ahead"), [
    (1, AHEAD_STEPS, True), (1, AHEAD_STEPS - 1, False), (2, AHEAD_STEPS, False)])
def test_steps_that_work_ahead_count_in_the_orders(micro_batches, samples, ahead):
    """A sample is a step there, and there are enough of them."""
    recipe = Recipe(micro_batches=micro_batches)
    for widths, vertices, edges in AHEAD:
        network = Network.of_widths(widths)
        for origin in (None, np.arange(vertices[0])):
            first = SimpleNamespace(rows=vertices, origin=origin, edges=[
                SimpleNamespace(nnz=count) for count in edges])
            source = type("Source", (), {"first": first, "__len__": lambda _: samples})()
            found = {pipelined: default_orders(
                network, vertices, edges, recipe.element_width, sampled=True,
                pipelined=pipelined, resident=origin is not None) for pipelined in (False, True)}
            assert ordered_for_samples(network, source, recipe) == found[ahead]
            if origin is not None:
                assert found[False] != found[True]
                assert found[micro_batches == 1] == ordered_for_numbers(
                    network, vertices, edges, recipe, law="power", sampled=True)
