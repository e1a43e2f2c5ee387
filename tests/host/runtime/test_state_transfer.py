# SPDX-License-Identifier: BSD-2-Clause
"""A training's state moves between devices, and what follows has the same bits."""

from dataclasses import replace

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.packing import pack_entry, unpack_entry
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import model_network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config
from hypercast.rtl.isa import STEP_KEY_INCREMENT
from tests.host.models import SMALL, small_graph, small_model
from tests.host.runtime.fake_chip import FakeChip

NARROW = Config(dimensions=2, lanes=4, planes=1, element_width=8, accumulator_rows=16,
                weight_rows=64, channel_words=1024, program_rows=128, read_buffer=4, tensors=32)


def trained(steps, config=SMALL, **recipe):
    device = ReferenceDevice(small_model(config=config, seed=3, **recipe))
    for _ in range(steps):
        device.train_step()
        device.evaluate()
    return device


def assert_equal(expected, found):
    """Two states are the same, but for peaks so low that they do not count."""
    assert expected.step == found.step
    assert expected.exponents == found.exponents
    assert expected.parameters.keys() == found.parameters.keys()
    for name, arrays in expected.parameters.items():
        assert arrays.keys() == found.parameters[name].keys()
        for kind, values in arrays.items():
            assert np.array_equal(values, found.parameters[name][kind]), f"{name}.{kind}"


@pytest.mark.parametrize("config", [SMALL, NARROW], ids=["16 bits", "8 bits"])
def test_the_reference_goes_on_with_the_same_bits(config):
    schedule = ((2, 0.5), (5, 0.25))
    uninterrupted = trained(7, config, schedule=schedule)
    resumed = ReferenceDevice(small_model(config=config, seed=3, schedule=schedule))
    resumed.load_state(trained(3, config, schedule=schedule).state())
    for _ in range(4):
        resumed.train_step()
        resumed.evaluate()
    assert_equal(uninterrupted.state(), resumed.state())
    expected, found = uninterrupted.snapshot(), resumed.snapshot()
    assert all(np.array_equal(expected[name], found[name]) for name in expected)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_a_state_may_be_in_any_order(optimiser):
    """As a file has it; devices keep their own."""
    reference = trained(3, optimiser=optimiser)
    state = reference.state()
    parameters = {name: dict(reversed(arrays.items()))
                  for name, arrays in reversed(state.parameters.items())}
    turned = replace(state, parameters=parameters)
    model = small_model(config=SMALL, seed=3, optimiser=optimiser)
    for device in (ReferenceDevice(model),
                   AloneChip(FakeChip(SMALL), compile_job(model, SMALL), model)):
        device.load_state(turned)
        found = device.state()
        assert_equal(state, found)
        assert list(found.parameters) == list(state.parameters)
        for name, arrays in found.parameters.items():
            assert list(arrays) == list(state.parameters[name])


@pytest.mark.parametrize(("network", "optimiser"), [
    (model_network("sage", 5, (4, 4), 3, dropout=0.5, jumping=True), "sgd"),
    (model_network("gin", 5, (4,), 3), "adam"),
    (model_network("gcn", 5, (4, 4), 3, residual=True), "sgd"),
], ids=["sage, jumping", "gin, adam", "residual"])
def test_models_and_optimisers(network, optimiser):
    """Operands that are added, or are parts of one matrix, share an entry of the exponent file."""
    def fresh():
        recipe = Recipe(epochs=5, weight_decays=(0.0,), normalisation="neighbours",
                        optimiser=optimiser)
        return prepare(small_graph(), network, recipe)
    reference = ReferenceDevice(fresh())
    for _ in range(3):
        reference.train_step()
    config = SMALL.replace(tensors=64, channel_words=4096, weight_rows=128, program_rows=512)
    model = fresh()
    device = AloneChip(FakeChip(config), compile_job(model, config), model)
    device.load_state(reference.state())
    assert_equal(reference.state(), device.state())
    snapshot = device.snapshot()
    for name in reference.oracle.masters:
        assert np.array_equal(np.atleast_2d(reference.oracle.tensors[name]), snapshot[name]), name
    resumed = ReferenceDevice(fresh())
    resumed.load_state(device.state())
    for each in (reference, resumed):
        each.train_step()
    assert_equal(reference.state(), resumed.state())


def test_a_state_does_not_change_with_its_device():
    device = trained(2)
    before = device.state()
    device.train_step()
    assert_equal(trained(2).state(), before)


@pytest.mark.parametrize("config", [SMALL, NARROW], ids=["16 bits", "8 bits"])
def test_a_chip_holds_what_was_written(config):
    model = small_model(config=config, seed=3)
    chip = FakeChip(config)
    device = AloneChip(chip, compile_job(model, config), model)
    reference = trained(3, config)
    device.load_state(reference.state())
    assert_equal(reference.state(), device.state())
    assert chip["step"] == 3
    assert chip["step_key"] == (3 + 3 * STEP_KEY_INCREMENT) & 0xFFFFFFFF
    snapshot = device.snapshot()
    for name in reference.oracle.masters:
        assert np.array_equal(np.atleast_2d(reference.oracle.tensors[name]), snapshot[name])


@pytest.mark.parametrize(("entry", "stored"), [
    ((-15, None), (-15, None)), ((-128, -128), (-128, -128)), ((60, 7), (60, 7)),
    ((-64, -200), (-64, -128)),  # no exponent is chosen from either
])
def test_entries_of_the_exponent_file(entry, stored):
    assert unpack_entry(pack_entry(*entry)) == stored
