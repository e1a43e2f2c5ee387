# SPDX-License-Identifier: BSD-2-Clause
"""Exponents of an evaluation: as small as peaks allow, and not below any accumulators' exponent."""

import numpy as np
import pytest

from hypercast import Graph, Model
from hypercast.host.training.finest_exponents import finest_exponents
from hypercast.host.training.prepare import prepare
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.recipe import Recipe
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import EDGES, Pass
from hypercast.rtl.isa import MINIMUM_EXPONENT

KARATE = Graph.load("karate")
MODELS = {
    "gcn": Model(hidden=(5, 4)), "aggregate first": Model(dropout=0, order="aggregate_first"),
    "sage, jumping": Model("sage", layers=3, hidden=4, jumping=True),
    "gcnii": Model("gcnii", layers=4, hidden=4), "sign": Model("sign", hidden=(5, 5, 5)),
    "mixhop": Model("mixhop", hidden=(4, 3, 4, 3))}


@pytest.mark.parametrize("elements", [8, 16])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_no_exponent_could_be_smaller(model, elements):
    network, generator = model.network(KARATE), np.random.default_rng(elements)
    for headroom in (-3, 0, 2):
        recipe = Recipe(epochs=1, element_width=elements, feature_headroom=headroom)
        oracle = FixedGnn(prepare(KARATE, network, recipe))
        oracle.train_step()
        oracle.evaluate()
        entries = oracle.exponents.entries()
        evaluated = {name for name in entries if name.during == Pass.EVALUATION}
        for spread in (1, 40):
            # Not all have peaks: a tensor of zeros has none.
            peaks = {name: int(generator.integers(-2 * spread, spread + 1))
                     for name in evaluated if generator.random() < 0.8}
            found = finest_exponents(network, recipe, entries, peaks)
            assert found.keys() == entries.keys()
            least = {name: max(MINIMUM_EXPONENT, peaks[name] + min(headroom, 0) - (elements - 1)
                               if name in peaks else entries[name][0]) for name in evaluated}
            graph = step_graph(network)
            for layer in range(1, len(network.layers) + 1):
                for node in graph.forward_of(layer, Pass.EVALUATION):
                    for term in node.terms[:1]:
                        base = sum(found[network.exponent_entry(factor)][0]
                                   for factor in (term.rows, term.weights or EDGES))
                        name = network.exponent_entry(node.result)
                        least[name] = max(least[name], base)
            assert {name: found[name] for name in evaluated} == {
                name: (exponent, None) for name, exponent in least.items()}
            training = {name.of_training for name in evaluated}
            for name in entries.keys() - evaluated:
                exponent, peak = entries[name]
                assert found[name] == (exponent, None if name in training else peak)
