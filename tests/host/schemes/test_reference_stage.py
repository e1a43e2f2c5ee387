# SPDX-License-Identifier: BSD-2-Clause
"""A reference with a run of layers: passes one after another are those of the whole network."""

import numpy as np

from hypercast.host.schemes.layer_crossings import crossings
from hypercast.host.schemes.layers_in_pipeline import no_metrics
from hypercast.host.schemes.reference_stage import ReferenceStage
from hypercast.host.schemes.stage import Message
from hypercast.reference.fixed_gnn import FixedGnn
from tests.host.models import small_model


def test_passes_of_all_layers():
    model = small_model(hidden=(4, 5))
    runs = range(1, 3), range(3, 4)
    stages = [ReferenceStage(model, layers) for layers in runs]
    oracle = FixedGnn(model)
    for each in (oracle, *stages):
        each.begin_step()
    expected = oracle.step_sums()
    passes = [stage.passes(model.sample, training=True) for stage in stages]
    first, second = passes
    first.forward(Message())
    second.forward(first.message(crossings(model.network, runs, forward=True)))
    second.backward(Message())
    first.backward(second.message(crossings(model.network, runs, forward=False)))
    nothing = no_metrics(model.sample)
    found = {}
    for one in passes:
        found |= one.sums(nothing).gradients
    assert found.keys() == expected.gradients.keys()
    for name, values in expected.gradients.items():
        np.testing.assert_array_equal(found[name], values)
    assert {name: entry for one in passes for name, entry in one.opened.items()}.items() \
        <= expected.entries.items()


def test_logits_are_those_of_the_last_evaluation():
    model = small_model(hidden=(4,))
    stage, oracle = ReferenceStage(model, range(1, 3)), FixedGnn(model)
    stage.passes(model.sample, training=False).forward(Message())
    oracle.evaluate()
    np.testing.assert_array_equal(stage.logits()[0], oracle.tensors["Z2.eval"])
