"""What the compiler emits stays within what lies there, whatever the shape. What does not is found.
"""

import dataclasses
import functools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.verification import ProgramError, verify
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config
from hypercast.rtl.isa import OPERANDS, Bypass, Opcode, OperandSource, decode, encode

CONFIG = Config(dimensions=1, lanes=4, planes=1, accumulator_rows=32, channel_words=2**16,
                operand_words=256, bypass_rows=128, program_rows=4096, weight_rows=8192,
                tensors=128)


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


def described(value):
    """Text of a parameter that is the same in every process."""
    return "" if callable(value) else str(value)


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
            bypass_rows=st.sampled_from([16, 64, 512])),
        vertices=st.integers(1, 150), features=st.integers(1, 400),
        density=st.sampled_from([0.0, 0.003, 0.02, 0.2, 1.0]),
        hidden=st.lists(st.integers(1, 20), max_size=3), model=st.sampled_from(list(MODELS)),
        order=st.sampled_from([COMBINE_FIRST, AGGREGATE_FIRST]),
        optimiser=st.sampled_from(["sgd", "adam"]), seed=st.integers(0, 99))(test)


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
    (Opcode.AGGREGATE, {"bypassed": 1}, "bypass_base", 128),
    (Opcode.AGGREGATE, {"bypassed": 0, "prefetch": 0}, "address", 1),
    (Opcode.MATMUL, {"sparse": 0, "operand": 0}, "address", 1),
    (Opcode.MATMUL, {"sparse": 0, "operand": 0}, "stride", -1),
    (Opcode.MATMUL, {"sparse": 0, "operand": 0}, "panels", 1),
    (Opcode.MATMUL, {}, "weights", 8000),
    (Opcode.MATMUL, {"operand": 2}, "operand_base", 256),
    (Opcode.GRADIENT, {"ones": 0}, "first_row", 64),
    (Opcode.GRADIENT, {"bypassed": 0}, "gradient_address", 1),
    (Opcode.GRADIENT, {"sums": 1}, "sums_row", 64),
    (Opcode.DRAIN, {}, "address", 1),
    (Opcode.DRAIN, {}, "row_limit", 20),
    (Opcode.DRAIN, {"bias": 1}, "bias_weights", 8000),
    (Opcode.DRAIN, {"mask_write": 1}, "mask_address", 60000),
    (Opcode.LOSS, {"train": 1}, "destination", 1),
    (Opcode.LOSS, {}, "panels", 1),
    (Opcode.LOSS, {}, "info", 60000),
    (Opcode.UPDATE, {}, "state", 60000),
    (Opcode.UPDATE, {}, "rows", 1),
    (Opcode.UPDATE, {}, "weights", 8000),
], ids=str)
def test_fields_that_reach_beyond_are_found(opcode, which, field, by):
    """In one of many panels, where a stride is to matter."""
    job, found = next((job, found) for job in jobs() if (found := emitted(job, opcode, **which)))
    row, entry = max(found, key=lambda pair: pair[1].get("panels", 0))
    with pytest.raises(ProgramError, match=rf"row {row}, {opcode.name}: .* defect of the compiler"):
        verify(changed(job, row, **{field: entry[field] + by}))


@pytest.mark.parametrize(("target", "base"), [
    (Bypass.LEFT, "left_base"), (Bypass.RIGHT, "right_base"), (Bypass.SEND, "send_base")])
def test_bypassed_rows_that_reach_beyond_are_found(target, base):
    job = job_of()
    row, _ = next((row, entry) for row, entry in emitted(job, Opcode.DRAIN)
                  if entry["bypass"] >> target & 1)
    with pytest.raises(ProgramError, match=base):
        verify(changed(job, row, **{base: 256}))


def test_rows_of_two_panels_are_found():
    """Rows of an instruction are of one panel, though the next one follows it at once."""
    job = job_of(hidden=(12,))
    starts = {(region.channel, region.address) for region in job.regions.values()
              if region.panels > 1 and region.stride == 20}
    row = next(row for row, entry in emitted(job, Opcode.DRAIN)
               if (entry["channel"], entry["address"]) in starts and entry["row_limit"] == 20)
    with pytest.raises(ProgramError, match="no 21 row words"):
        verify(changed(job, row, row_limit=21))


@functools.cache
def jobs():
    """Jobs that together have all kinds of instructions; in one, operands are read from memory."""
    return [job_of(order=order, density=density, hidden=(6, 6),
                   config=CONFIG.replace(operand_words=words))
            for order, density, words in ((COMBINE_FIRST, 1.0, 16), (COMBINE_FIRST, 0.05, 256),
                                          (AGGREGATE_FIRST, 1.0, 1024))]


def first(opcode, **which):
    """A job with an instruction, its row and its fields."""
    return next((job, *found[0]) for job in jobs() if (found := emitted(job, opcode, **which)))


@pytest.mark.parametrize(("opcode", "which", "field", "room"), [
    (Opcode.AGGREGATE, {"bypassed": 1, "prefetch": 0}, "bypass_base", lambda job, entry:
     job.config.bypass_rows - len(job.plan.rows_of(entry["vertices"]))),
    (Opcode.MATMUL, {"operand": 2, "sparse": 0}, "operand_base", lambda job, entry:
     job.config.operand_words - (entry["panels"] - 1) * entry["operand_stride"]
     - entry["row_limit"]),
    (Opcode.GRADIENT, {"ones": 0}, "first_row", lambda job, entry:
     job.config.accumulator_rows * job.config.cores - entry["panels"] * job.config.lanes),
    (Opcode.GRADIENT, {"ones": 1}, "first_row", lambda job, entry:
     job.config.accumulator_rows * job.config.cores - entry["panels"]),
    (Opcode.GRADIENT, {"sums": 1}, "sums_row", lambda job, entry:
     job.config.accumulator_rows * job.config.cores - 1),
    (Opcode.GRADIENT, {"bypassed": 1}, "bypass_base", lambda job, entry:
     job.config.bypass_rows - len(job.plan.rows_of(entry["vertices"]))),
    (Opcode.DRAIN, {"bypass": 1 << Bypass.LEFT}, "left_base", lambda job, entry:
     job.config.operand_words - entry["row_limit"]),
    (Opcode.DRAIN, {"bypass": 1 << Bypass.RIGHT}, "right_base", lambda job, entry:
     job.config.bypass_rows - entry["row_limit"]),
    (Opcode.DRAIN, {"bypass": 1 << Bypass.SEND}, "send_base", lambda job, entry:
     job.config.bypass_rows - entry["row_limit"]),
    (Opcode.UPDATE, {}, "first_row", lambda job, entry:
     job.config.accumulator_rows * job.config.cores - entry["rows"]),
], ids=described)
def test_the_last_place_is_the_last(opcode, which, field, room):
    """What just fits is right, one more is not."""
    bypasses = which.get("bypass", 0)
    which = {name: value for name, value in which.items() if name != "bypass"}
    job, row, entry = next(
        (job, row, entry) for job in jobs() for row, entry in emitted(job, opcode, **which)
        if entry.get("bypass", 0) & bypasses == bypasses)
    last = room(job, entry)
    verify(changed(job, row, **{field: last}))
    with pytest.raises(ProgramError, match=rf"row {row}, {opcode.name}"):
        verify(changed(job, row, **{field: last + 1}))


@pytest.mark.parametrize(("opcode", "which", "field", "kind"), [
    (Opcode.DRAIN, {"mask_write": 1}, "mask_address", lambda job, entry: (
        1, -(-entry["row_limit"] // job.config.mask_rows))),
    (Opcode.LOSS, {}, "info", lambda job, entry: (
        1, -(-len(job.plan.rows_of(entry["vertices"])) // job.config.info_rows))),
    (Opcode.UPDATE, {"adam": 0}, "state", lambda job, entry: (
        1, -(-entry["rows"] // job.config.cores) * 2 * job.config.state_words))], ids=described)
def test_words_are_in_one_region(opcode, which, field, kind):
    """At its beginning and at its end; not one word before or after, if nothing else lies there."""
    job, row, entry = first(opcode, **which)
    channel, count = kind(job, entry)
    regions = [region for region in job.regions.values() if region.channel == channel]
    region = next(region for region in regions
                  if 0 <= entry[field] - region.address <= region.words - count)
    for address in (region.address, region.address + region.words - count):
        verify(changed(job, row, **{field: address}))
    end = max(other.address + other.words for other in regions)
    largest = next(other for other in regions if other.address + other.words == end)
    if largest.words >= count:
        verify(changed(job, row, **{field: end - count}))
    with pytest.raises(ProgramError, match=rf"row {row}, {opcode.name}"):
        verify(changed(job, row, **{field: end - count + 1}))


@pytest.mark.parametrize(("opcode", "which", "fields"), [
    (Opcode.AGGREGATE, {"prefetch": 1}, ("send_list", "address", "bypass_base")),
    (Opcode.AGGREGATE, {"bypassed": 1, "prefetch": 0}, ("address",)),
    (Opcode.AGGREGATE, {"bypassed": 0, "prefetch": 0}, ("bypass_base",)),
    (Opcode.MATMUL, {"operand": 0}, ("operand_base",)),
    (Opcode.MATMUL, {"operand": 2, "sparse": 0}, ("address",)),
    (Opcode.GRADIENT, {"sums": 0}, ("sums_row",)),
    (Opcode.GRADIENT, {"bypassed": 0}, ("bypass_base",)),
    (Opcode.GRADIENT, {"bypassed": 1}, ("gradient_address",)),
    (Opcode.DRAIN, {"mask_read": 0, "mask_write": 0, "source": 0}, ("mask_address",)),
    (Opcode.DRAIN, {"bias": 0}, ("bias_weights",)),
    (Opcode.DRAIN, {"bypass": 0}, ("left_base", "right_base", "send_base")),
    (Opcode.LOSS, {"train": 0}, ("destination", "left_base", "right_base", "send_base")),
], ids=str)
def test_fields_that_mean_nothing_are_not_checked(opcode, which, fields):
    job, row, _ = first(opcode, **which)
    widths = dict(OPERANDS[opcode])
    verify(changed(job, row, **{name: (1 << widths[name]) - 1 for name in fields}))


@settings(max_examples=20)
@any_shape
def test_any_shape(**shape):
    compile_or_refuse(shape)
