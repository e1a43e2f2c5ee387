# SPDX-License-Identifier: BSD-2-Clause
"""Evaluations alone: what fits, what is there, and what each program computes."""

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.evaluation import LOSS, compile_evaluation
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.packing import unpack_rows
from hypercast.reference.tensor import BACKWARD, EDGES, FEATURES, Kind, Pass, Tensor
from hypercast.rtl.isa import Opcode, decode
from tests.host.models import SMALL, named_model, small_graph, small_model

CONFIG = SMALL.replace(program_rows=512, weight_rows=512, tensors=64)


def programs(part):
    """The decoded instructions of each program."""
    return {entry: [*map(decode, part.job.instructions(entry))] for entry in part.job.starts}


@pytest.mark.parametrize(("name", "additions", "stored"), [
    ("gcn", {}, ["T1", "H1", "T2", "Z2"]),
    ("sage", {}, ["T1", "S1", "H1", "T2", "S2", "Z2"]),
    ("gcn", {"jumping": True}, ["T1", "H1", "Z2"]),
])
def test_a_program_for_each_tensor(name, additions, stored):
    """Each drains its tensor, and nothing else; what is stored in it has a new exponent."""
    [part] = compile_evaluation(named_model(name, config=CONFIG, **additions), CONFIG)
    assert part.stored == tuple(f"{tensor}.eval" for tensor in stored)
    assert [*part.job.starts] == [*part.stored, LOSS]
    assert not part.inputs
    numbers = part.job.tensors
    for entry, program in programs(part).items():
        assert program[-1]["opcode"] == Opcode.HALT and not program[-1]["step"]
        drained = [one for one in program if one["opcode"] == Opcode.DRAIN]
        losses = [one for one in program if one["opcode"] == Opcode.LOSS]
        if entry == LOSS:
            assert not drained and len(losses) == 1 and not losses[0]["train"]
            continue
        region = part.job.regions[entry]
        assert drained and not losses
        assert [one["open"] for one in drained] == [1, *[0] * (len(drained) - 1)]
        assert all(region.address <= one["address"] < region.address + region.words
                   for one in drained)
        assert {(one["a"], one["b"]) for one in drained} == {tuple(
            numbers[factor] for factor in part.factors(Tensor.parse(entry)))}


def test_factors():
    [part] = compile_evaluation(small_model(config=CONFIG), CONFIG)
    combined, hidden = (Tensor(kind, 1, Pass.EVALUATION) for kind in (Kind.COMBINED, Kind.HIDDEN))
    assert part.factors(combined) == (FEATURES, Tensor(Kind.WEIGHTS, 1))
    assert part.factors(hidden) == (EDGES, combined)


def test_nothing_is_there_that_trains():
    """So a graph is evaluated that is too large to be trained on."""
    model = small_model(small_graph(160), config=CONFIG)
    config = CONFIG.replace(accumulator_rows=128)
    with pytest.raises(CapacityError, match="channel_words"):
        compile_job(model, config)
    [part] = compile_evaluation(model, config)
    found = [region.tensor for region in part.job.regions.values() if region.tensor]
    assert found and not {tensor.kind for tensor in found} & {*BACKWARD, Kind.MASK}
    assert not any(weights.state.words for weights in part.job.weights.values())


@pytest.mark.parametrize("orders", ["combine_first", "aggregate_first"])
def test_layer_by_layer(orders):
    """Each has its own parameters and edges, and the hidden features before it."""
    model = small_model(small_graph(100), hidden=(12, 12), config=CONFIG, dropout=0.0,
                        orders=orders)
    config = CONFIG.replace(accumulator_rows=64)
    parts = compile_evaluation(model, config)
    assert [part.inputs for part in parts] == [(), ("H1.eval",), ("H2.eval",)]
    assert [{*part.job.weights} for part in parts] == [
        {f"W{number}", f"b{number}"} for number in (1, 2, 3)]
    assert [LOSS in part.job.starts for part in parts] == [False, False, True]
    assert [FEATURES in part.job.regions for part in parts] == [True, False, False]
    [whole] = compile_evaluation(model, config.replace(channel_words=4096))
    assert [name for part in parts for name in part.stored] == [*whole.stored]


def test_a_layer_that_does_not_fit():
    model = small_model(small_graph(600), config=CONFIG)
    with pytest.raises(CapacityError, match=r"channel_words is 1024, but .* raise channel_words"):
        compile_evaluation(model, CONFIG.replace(accumulator_rows=512))


def test_values():
    """Parameters, exponents and inputs as they are given; a job is not changed by them."""
    model = small_model(small_graph(100), hidden=(12, 12), config=CONFIG, dropout=0.0)
    part = compile_evaluation(model, CONFIG.replace(accumulator_rows=64))[1]
    generator = np.random.default_rng(1)
    values = {name: generator.integers(-99, 99, weights.shape)
              for name, weights in part.job.weights.items()}
    values[part.inputs[0]] = generator.integers(-99, 99, (100, 12))
    before = [len(image) for image in part.job.images]
    job = part.with_values(values, {EDGES: 5})
    assert job.exponents == part.job.exponents | {EDGES: 5}
    weights = part.job.weights["W2"]
    bank = unpack_rows(job.weight_bank, CONFIG)[weights.base:]
    np.testing.assert_array_equal(bank[:12], values["W2"][:, :2])
    for core, image in enumerate(job.images):
        rows = unpack_rows(dict(image)["H1"], CONFIG)
        np.testing.assert_array_equal(rows[0], values["H1.eval"][core, :2])
    assert [len(image) for image in part.job.images] == before
