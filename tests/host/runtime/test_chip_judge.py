# SPDX-License-Identifier: BSD-2-Clause
"""A chip evaluates what it trains on samples: the bits are those of the reference's judge."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_sampled
from hypercast.host.compiler.pieces import Pieces
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.chip_device import ChipDevice
from hypercast.host.runtime.chip_judge import ChipJudge
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.training.prepare import loss_of, training_data
from hypercast.reference.exponents import AlignmentError, ExponentError
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.judge import Judge
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import NARROW, WIDE, random_graph

ORDERS = COMBINE_FIRST, AGGREGATE_FIRST


def model_of(config, *, vertices=40, features=7, hidden=(6,), classes=5, name="gcn",
             order=COMBINE_FIRST, labels=0, seed=1, own=24, **additions):
    """A model whose sample is the first vertices of a graph, and the same with all of it.

    With ``labels``, each vertex has about so many.
    """
    graph = random_graph(vertices, 3 * vertices, features=features, classes=classes, isolated=2,
                         seed=seed)
    if labels:
        generator = np.random.default_rng(seed)
        graph = replace(graph, labels=generator.random((vertices, classes)) < labels / classes)
    network = model_network(name, features, hidden, classes, dropout=0.0, **additions)
    network = network.with_orders(order if order in layer.orders else layer.orders[0]
                                  for layer in network.layers)
    recipe = Recipe(normalisation=MODELS[name].normalisation, weight_decays=(0.0,),
                    loss=loss_of(graph), element_width=config.element_width, learning_rates=(0.2,))
    edges, values, labels, splits, _ = training_data(graph, recipe)
    sample = Sample.of(network, recipe, edges[:own, :own], values[:own], labels[:own],
                       splits[:own])
    whole = Sample.of(network, recipe, edges, values, labels, splits)
    model = InitialModel.of(network, recipe, sample)
    return model, model.with_sample(whole)


@contextmanager
def opened(model, config, *, pieces=False, ahead=False):
    job = compile_sampled(model, config, Capacity.of([model.sample]), pieces=pieces, ahead=ahead)
    chip = ChipDevice(CxxrtlTransport(config), Pieces.of_steps(job), model) if pieces else \
        AloneChip(CxxrtlTransport(config), job, model)
    try:
        yield chip
    finally:
        chip.close()


def assert_equal(judge, expected, state):
    """Metrics, logits and all exponents are those of the reference."""
    for found, wanted in zip(judge.judge(state), expected.judge(state), strict=True):
        np.testing.assert_array_equal(found, wanted)
    logits = f"Z{len(judge.network.layers)}.eval"
    np.testing.assert_array_equal(judge.tensors[logits], expected.tensors[logits])
    assert judge.exponents.entries() == expected.exponents.entries()


def judges(chip, whole):
    return ChipJudge(chip, whole), Judge(whole.network, whole.recipe, whole.sample)


def drawn(seed):
    """A configuration, and a model of random sizes."""
    generator = np.random.default_rng(seed)
    draw = generator.integers
    widths = tuple(draw(1, 10, draw(0, 3)).tolist())
    name = [*MODELS][seed % len(MODELS)]
    additions = {"jumping": True} if widths and seed % 4 == 3 else {}
    if name == "gcnii":
        widths, additions = (widths[:1] or (4,)) * max(len(widths), 1), {}
    elif name == "mixhop":
        widths, additions = (*widths, 3, 5, 4), {}
    elif name == "sign":
        widths, additions = (*widths, 3, 5, 4)[:3], {}
    elif seed % 5 == 4:
        widths, additions = widths[:1] * 2, {"residual": True} if name != "sage" else {}
    config = (WIDE, NARROW)[seed % 8 == 7]
    return config, model_of(
        config, vertices=int(draw(26, 90)), features=int(draw(1, 12)), hidden=widths,
        classes=int(draw(2, 9)), name=name, order=ORDERS[seed // 2 % 2], labels=seed % 4 == 1,
        seed=seed, **additions)


def scaled(state, factor):
    """A state whose parameters are all so many times as large."""
    return replace(state, parameters={name: arrays | {"master": factor * arrays["master"]}
                                      for name, arrays in state.parameters.items()})


@pytest.mark.parametrize("seed", range(10))
def test_bits_are_those_of_the_reference(seed):
    """Before every step; and the steps between are those of a training that is not evaluated."""
    config, (model, whole) = drawn(seed)
    reference = ReferenceDevice(model)
    with opened(model, config, ahead=seed % 2 == 0) as chip:
        judge, expected = judges(chip, whole)
        for _ in range(3):
            assert_equal(judge, expected, chip.state())
            state, wanted = chip.state(), reference.state()
            assert state.exponents == wanted.exponents
            for found, other in zip(chip.train_step(), reference.train_step(), strict=True):
                np.testing.assert_array_equal(found, other)
            assert chip.exponents() == reference.exponents()


def test_layer_by_layer():
    """With one chip in all tests, a graph that does not fit is one of many hidden features."""
    model, whole = model_of(WIDE, vertices=800, hidden=(32, 32), seed=3)
    with opened(model, WIDE) as chip:
        judge, expected = judges(chip, whole)
        assert [part.inputs for part in judge._parts] == [(), ("H1.eval",), ("H2.eval",)]
        for _ in range(2):
            assert_equal(judge, expected, chip.state())
            chip.train_step()


def test_a_program_runs_twice_where_its_exponent_was_another():
    """An evaluation of what was evaluated runs each once."""
    model, whole = model_of(WIDE)
    with opened(model, WIDE) as chip:
        judge, expected = judges(chip, whole)
        cycles = []
        for factor in (1, 1, 64, 64):
            state = chip.state()
            before = chip.evaluate_cycles
            assert_equal(judge, expected, scaled(state, factor))
            cycles.append(chip.evaluate_cycles - before)
            chip.load_state(state)
        assert cycles[2] > cycles[1] == cycles[3]


@pytest.mark.parametrize("name", ["gcn", "mixhop"])
def test_an_exponent_that_a_factor_has_too(name):
    """It is not the one that the result had in the evaluation before: that was of other bits."""
    additions = {"hidden": (6, 6, 6), "jumping": True} if name == "gcn" else {
        "hidden": (6, 3, 5, 4)}
    model, whole = model_of(WIDE, name=name, **additions)
    with opened(model, WIDE) as chip:
        judge, expected = judges(chip, whole)
        state = chip.state()
        for factor in (1, 8, 1, 2, 1):
            assert_equal(judge, expected, scaled(state, factor))


def test_between_steps_on_several_samples():
    model, whole = model_of(WIDE, name="sage")
    reference = ReferenceDevice(model)
    with opened(model, WIDE, pieces=True) as chip:
        judge, expected = judges(chip, whole)
        for _ in range(2):
            assert_equal(judge, expected, chip.state())
            for device in (chip, reference):
                device.begin_step()
                device.update(StepSums.total(
                    device.step_sums(model.sample) for _ in range(2)))
            assert chip.state().exponents == reference.state().exponents


@pytest.mark.parametrize(("exponent", "error"), [
    (4, AlignmentError), (30, ExponentError), (100, ExponentError)])
def test_exponents_that_are_out_of_range(exponent, error):
    """The error is the reference's. The chip goes on as if there had been none."""
    model, whole = model_of(WIDE)
    far = replace(whole, sample=replace(whole.sample, edge_exponent=exponent))
    with opened(model, WIDE) as chip:
        state = chip.state()
        judge, expected = judges(chip, far)
        with pytest.raises(error, match=r"exponent of \w+\.eval") as wanted:
            expected.judge(state)
        with pytest.raises(error, match=str(wanted.value).split(" is ")[0]):
            judge.judge(state)
        assert chip.state().exponents == state.exponents
        assert chip.job.exponents[EDGES] == model.sample.edge_exponent
        assert_equal(*judges(chip, whole), state)
