# SPDX-License-Identifier: BSD-2-Clause
"""Any small training on boards, chips among them, ends in the bits of one reference."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.reference.quantization import ConstantError
from hypercast.reference.recipe import OPTIMISERS
from tests.system.chips import random_graph
from tests.system.test_older_weights import trained

BOARDS = st.sampled_from(["rtl,reference", "reference,rtl", "rtl,rtl", "rtl,reference,rtl"])
#: Models whose boards wait for each other, and those that any scheme trains.
WAITING = [("gcn", {"jumping": True}), ("sage", {"jumping": True}), ("gcnii", {"alpha": 0.2}),
           ("mixhop", {}), ("sign", {})]
MODELS = [("gcn", {}), ("sage", {}), ("gin", {}), ("gcn", {"residual": True})]
SUBGRAPHS = [Sampling(sampler="walks", batch=3, walk=2, coverage=2.0),
             Sampling(sampler="nodes", batch=9, coverage=2.0)]
NEIGHBOURS = [Sampling(sampler="neighbours", batch=4, fan_outs=(3, 2)),
              Sampling(sampler="neighbours", batch=1, fan_outs=(2,))]


@st.composite
def trainings(draw):
    """Boards, a graph, a model, and options of ``Trainer``."""
    names, vertices = draw(BOARDS), draw(st.integers(16, 50))
    graph = random_graph(vertices, draw(st.integers(30, 150)), features=draw(st.integers(1, 24)),
                         classes=draw(st.integers(2, 4)), seed=draw(st.integers(0, 2**32 - 1)))
    scheme = draw(st.sampled_from(["samples", "graph", "layers", "older weights", "chunks"]))
    name, additions = draw(st.sampled_from(MODELS if scheme == "older weights" else
                                           [*MODELS, *WAITING]))
    layers = 4 if name in ("mixhop", "sign") else draw(st.integers(3, 4))
    model = Model(name, layers=layers, hidden=draw(st.integers(1, 7)),
                  dropout=draw(st.sampled_from([0.0, 0.5])), **additions)
    older = {"older weights": [{"versions": 2}, {"stages": 2}],
             "chunks": [{"chunks": count} for count in (2, 3, 5)]}.get(scheme)
    assignment = Assignment(scheme="layers", **draw(st.sampled_from(older))) if older else \
        Assignment(scheme=scheme)
    options = {"assignment": assignment, "epochs": 2,
               "optimiser": draw(st.sampled_from(OPTIMISERS)),
               "seed": draw(st.integers(0, 2**20))}
    # Neighbours have other vertices in each layer, which all of WAITING's take together.
    samplings = SUBGRAPHS if (name, additions) in WAITING else [*SUBGRAPHS, *NEIGHBOURS]
    if scheme == "samples" or (scheme not in ("graph", "chunks") and draw(st.booleans())):
        options |= {"sampling": draw(st.sampled_from(samplings)),
                    "micro_batches": draw(st.integers(len(names.split(",")), 4))}
    return names, graph, model, options


def check(training):
    names, graph, model, options = training
    alone = {**options}
    if not options["assignment"].stale:
        del alone["assignment"]
    try:
        expected = trained("reference", graph, model, **alone)
    except (ArithmeticError, ConstantError):  # a training that goes wrong does so on boards, too
        assume(False)
    except ValueError as error:
        if "reach only" not in str(error):  # most vertices have no edges among them
            raise
        assume(False)
    assert trained(names, graph, model, **options) == expected


@settings(max_examples=5, deadline=None)
@given(trainings())
def test_random_boards(training):
    check(training)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(trainings())
def test_many_random_boards(training):
    check(training)
