"""What the compiler emits stays within what lies there, whatever the shape. What does not is found.
"""

import dataclasses

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.compiler import compile_job
from hypercast.host.graph import Graph
from hypercast.host.memory_map import CapacityError
from hypercast.host.training import prepare
from hypercast.host.verification import ProgramError, verify
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Keep, Opcode, OperandSource, decode, encode

CONFIG = Config(dimensions=1, lanes=4, planes=1, accumulator_rows=32, channel_words=2**16,
                operand_words=256, kept_rows=128, program_rows=4096, weight_rows=8192, tensors=128)


def job_of(*, vertices=40, features=100, density=0.05, hidden=(6,), model="gcn", order=None,
           optimiser="sgd", dropout=0.0, config=CONFIG, seed=0):
    """A compiled training on a random graph; the same order in all layers that can have it."""
    generator = np.random.default_rng(seed)
    values = scipy.sparse.random_array((vertices, features), density=density, rng=generator,
                                       format="lil")
    values[0, 0] = 1.0
    graph = Graph.from_edges(generator.integers(0, vertices, (3 * vertices, 2)), values.tocsr(),
                             np.arange(vertices) % 3, train=range(0, vertices, 2))
    network = model_network(model, features, hidden, 3, dropout=dropout)
    network = network.ordered(
        order if order in layer.orders else layer.orders[0] for layer in network.layers)
    recipe = Recipe(epochs=1, normalisation=MODELS[model], optimiser=optimiser,
                    element_width=config.element_width)
    return compile_job(prepare(graph, network, recipe), config)


def emitted(job, opcode, **fields):
    """Program rows and fields of instructions."""
    return [(row, entry) for row, entry in enumerate(map(decode, job.program))
            if entry["opcode"] == opcode and all(entry[name] == value
                                                 for name, value in fields.items())]


def changed(job, row, **fields):
    """The job with other fields in one instruction."""
    entry = decode(job.program[row]) | fields
    program = list(job.program)
    program[row] = encode(entry.pop("opcode"), **entry)
    return dataclasses.replace(job, program=program)


def any_shape(test):
    """Give a test a configuration and the parameters of ``job_of``."""
    return given(
        config=st.builds(
            CONFIG.replace, lanes=st.sampled_from([2, 4, 8, 16]), dimensions=st.integers(0, 2),
            element_width=st.sampled_from([8, 16]), accumulator_rows=st.sampled_from([16, 32, 64]),
            operand_words=st.sampled_from([16, 64, 1024]),
            kept_rows=st.sampled_from([16, 64, 512])),
        vertices=st.integers(1, 150), features=st.integers(1, 400),
        density=st.sampled_from([0.0, 0.003, 0.02, 0.2, 1.0]),
        hidden=st.lists(st.integers(1, 20), max_size=3), model=st.sampled_from(list(MODELS)),
        order=st.sampled_from([COMBINE_FIRST, AGGREGATE_FIRST]),
        optimiser=st.sampled_from(["sgd", "adam"]), seed=st.integers(0, 99))(test)


@settings(max_examples=20)
@any_shape
def test_any_shape(**shape):
    compile_or_refuse(shape)


@pytest.mark.slow
@settings(max_examples=300)
@any_shape
def test_many_shapes(**shape):
    compile_or_refuse(shape)


def compile_or_refuse(shape):
    """Compile, which verifies; what does not fit is of no interest."""
    try:
        job_of(**shape)
    except CapacityError:
        assume(False)


def test_indices_that_are_too_short_are_found():
    """As they were when the index from panel 0 ended where the next one began."""
    job = job_of(config=CONFIG.replace(operand_words=16), features=600, density=0.01)
    (row, entry), *_ = emitted(job, Opcode.MATMUL, sparse=1)
    later = [region for name, region in job.regions.items() if name.startswith("index")][1]
    assert entry["operand"] == OperandSource.MEMORY and entry["panels"] == 150
    with pytest.raises(ProgramError, match=rf"row {row}, MATMUL: .* has not 150 panels"):
        verify(changed(job, row, address=later.address))
    with pytest.raises(ProgramError, match="no index begins"):
        verify(changed(job, row, address=later.address + 1))


@pytest.mark.parametrize(("opcode", "which", "field", "by"), [
    (Opcode.AGGREGATE, {"prefetch": 0}, "send_list", 1),
    (Opcode.AGGREGATE, {}, "edge_set", 1),
    (Opcode.AGGREGATE, {"kept": 1}, "kept_base", 128),
    (Opcode.AGGREGATE, {"kept": 0, "prefetch": 0}, "address", 1),
    (Opcode.MATMUL, {"sparse": 0, "operand": 0}, "address", 1),
    (Opcode.MATMUL, {"sparse": 0, "operand": 0}, "stride", -1),
    (Opcode.MATMUL, {"sparse": 0, "operand": 0}, "panels", 1),
    (Opcode.MATMUL, {}, "weights", 8000),
    (Opcode.MATMUL, {"operand": 2}, "operand_base", 256),
    (Opcode.GRADIENT, {"ones": 0}, "first_row", 64),
    (Opcode.GRADIENT, {"kept": 0}, "gradient_address", 1),
    (Opcode.GRADIENT, {"sums": 1}, "sums_row", 64),
    (Opcode.DRAIN, {}, "address", 1),
    (Opcode.DRAIN, {}, "row_limit", 20),
    (Opcode.DRAIN, {"bias": 1}, "bias_weights", 8000),
    (Opcode.DRAIN, {"mask_write": 1}, "side_address", 60000),
    (Opcode.LOSS, {"train": 1}, "destination", 1),
    (Opcode.LOSS, {}, "panels", 1),
    (Opcode.LOSS, {}, "info", 60000),
    (Opcode.UPDATE, {}, "state", 60000),
    (Opcode.UPDATE, {}, "rows", 1),
    (Opcode.UPDATE, {}, "weights", 8000),
], ids=str)
def test_fields_that_reach_beyond_are_found(opcode, which, field, by):
    """In one of many panels, where a stride is to matter."""
    jobs = [job_of(order=order, density=density, hidden=(6, 6),
                   config=CONFIG.replace(operand_words=words))
            for order, density, words in ((COMBINE_FIRST, 1.0, 16), (COMBINE_FIRST, 0.05, 256),
                                          (AGGREGATE_FIRST, 1.0, 16))]
    job, found = next((job, found) for job in jobs if (found := emitted(job, opcode, **which)))
    row, entry = max(found, key=lambda pair: pair[1].get("panels", 0))
    with pytest.raises(ProgramError, match=rf"row {row}, {opcode.name}: .* defect of the compiler"):
        verify(changed(job, row, **{field: entry[field] + by}))


@pytest.mark.parametrize(("keep", "base"), [
    (Keep.LEFT, "left_base"), (Keep.RIGHT, "right_base"), (Keep.SEND, "send_base")])
def test_kept_rows_that_reach_beyond_are_found(keep, base):
    job = job_of()
    row, _ = next((row, entry) for row, entry in emitted(job, Opcode.DRAIN)
                  if entry["keep"] >> keep & 1)
    with pytest.raises(ProgramError, match=base):
        verify(changed(job, row, **{base: 256}))
