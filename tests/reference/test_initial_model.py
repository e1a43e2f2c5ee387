# SPDX-License-Identifier: BSD-2-Clause
"""What devices have in common, and what each has for itself."""

from dataclasses import replace

import numpy as np

from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from tests.reference.random_data import data, network


def model(**recipe):
    return InitialModel.of(network(), Recipe(**recipe), *data())


def test_training_does_not_change_it():
    found = model(optimiser="adam", learning_rates=(1.0,))
    before = FixedGnn(model(optimiser="adam", learning_rates=(1.0,))).state()
    for gnn in (FixedGnn(found), FixedGnn(found)):
        assert gnn.state().exponents == before.exponents
        for name, arrays in gnn.kept.items():
            for kind, values in arrays.items():
                assert np.array_equal(values, before.parameters[name][kind])
        for _ in range(3):
            gnn.train_step()
        assert gnn.state().exponents != before.exponents


def test_every_device_has_rules_of_its_own():
    found = model()
    one, other = found.rules(), found.rules()
    expected = other.momentum_exponents.entries()
    one.momentum_exponents.load({name: 0 for name in expected})
    one.gains.clear()
    assert other.momentum_exponents.entries() == expected
    assert found.rules().momentum_exponents.entries() == expected
    assert other.gains and found.rules().gains == other.gains


def test_rules_count_the_vertices_of_the_first_sample():
    found = model()
    half = Sample.of(found.network, found.recipe, data()[0][:20, :20], *(
        part[:20] for part in data()[1:]))
    later = found.with_sample(half)
    assert later.sample is half and later.state is found.state
    assert later.rules().gains == {name: 2 * gain for name, gain in found.rules().gains.items()}


def test_operands_are_those_of_its_oracle():
    found = model(element_width=8)
    gnn = FixedGnn(found)
    for name, operand in found.operands().items():
        assert np.array_equal(operand, gnn.tensors[name])
    state = replace(found.state, parameters={
        name: {kind: -values for kind, values in arrays.items()}
        for name, arrays in found.state.parameters.items()})
    for name, operand in replace(found, state=state).operands().items():
        assert np.abs(operand + found.operands()[name]).max() <= 1
