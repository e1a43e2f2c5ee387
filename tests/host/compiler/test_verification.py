# SPDX-License-Identifier: BSD-2-Clause
"""What the compiler emits stays within what lies there, whatever the shape. What does not is found.
"""

import dataclasses
import functools
import random
from collections import Counter

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.memory_map import CapacityError, Listing
from hypercast.host.compiler.packing import deal
from hypercast.host.compiler.verification import ProgramError, verify
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import Config
from hypercast.rtl.isa import OPERANDS, Bypass, DrainSource, Opcode, OperandSource, decode, encode

CONFIG = Config(dimensions=1, lanes=4, planes=1, accumulator_rows=32, channel_words=2**16,
                operand_words=256, bypass_rows=128, program_rows=4096, weight_rows=8192,
                tensors=128)


def job_of(*, config=CONFIG, **shape):
    """A compiled training on a random graph."""
    return compile_job(model_of(config=config, **shape), config)


def model_of(*, vertices=40, features=100, density=0.05, hidden=(6,), model="gcn", order=None,
             optimiser="sgd", dropout=0.0, config=CONFIG, seed=0):
    """A training on a random graph; the same order in all layers that can have it."""
    generator = np.random.default_rng(seed)
    values = scipy.sparse.random_array((vertices, features), density=density, rng=generator,
                                       format="lil")
    values[0, 0] = 1.0
    graph = Graph.from_edges(generator.integers(0, vertices, (3 * vertices, 2)), values.tocsr(),
                             np.arange(vertices) % 3, train=range(0, vertices, 2))
    if model == "gcnii":
        hidden = (hidden[:1] or [4]) * max(len(hidden), 1)
    if MODELS[model].least:
        hidden = [*hidden, 4, 5, 3]
    network = model_network(model, features, hidden, 3, dropout=dropout)
    network = network.with_orders(
        order if order in layer.orders else layer.orders[0] for layer in network.layers)
    recipe = Recipe(epochs=1, normalisation=MODELS[model].normalisation, optimiser=optimiser,
                    element_width=config.element_width)
    return prepare(graph, network, recipe)


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


@pytest.mark.parametrize(("opcode", "which", "most"), [
    (Opcode.MATMUL, {}, 32), (Opcode.GRADIENT, {}, 32),
    (Opcode.DRAIN, {"source": DrainSource.ARRAY}, 32),
    (Opcode.DRAIN, {"source": DrainSource.AGGREGATION}, 64)], ids=described)
def test_rows_beyond_the_accumulators_are_found(opcode, which, most):
    """The aggregators have more rows than the array."""
    job = job_of(config=CONFIG.replace(aggregation_rows=64), vertices=240, hidden=(6, 6))
    row, _ = next((row, entry) for row, entry in emitted(job, opcode, **which)
                  if entry["row_limit"] == most and entry["row_start"] == 0)
    with pytest.raises(ProgramError, match=rf"row {row}, {opcode.name}: .*{most + 1}"):
        verify(changed(job, row, row_limit=most + 1))


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


@settings(max_examples=10)
@any_shape
def test_any_shape(**shape):
    compile_or_refuse(shape)


def fits(job, entry):
    """Whether all that an instruction reads and writes lies in one place, by naming every word."""
    config, opcode, regions = job.config, entry["opcode"], job.regions.values()
    banked = config.strip_rows * config.cores
    panels, cores = entry.get("panels", 1), config.cores
    rows = job.plan.rows_of(entry["vertices"]) if "vertices" in entry else range(0)
    if "row_limit" in entry:
        rows = range(entry["row_start"], entry["row_start"] + entry["row_limit"])

    def matrix(channel, address, stride=0, panels=1):
        return any(
            all(address + panel * stride + index == region.panel(first + panel, row)
                for panel in range(panels) for index, row in enumerate(rows))
            for region in regions
            if region.channel == channel and region.columns and rows.stop <= region.stride
            for first in range(region.panels - panels + 1))

    def words(address, count):
        return any(all(word in range(region.address, region.address + region.words)
                       for word in (address, address + count - 1))
                   for region in regions if region.channel == 1)

    def bank(base, *spans):
        return any(base in (owned := range(place.base, place.base + place.rows)) and all(
            base + first in owned and base + first + min(count, place.height) - 1 in owned
            for first, count in spans) for place in job.weights.values())

    def left(channel):
        source, used = entry["operand"], (panels - 1) * entry["operand_stride"] + len(rows)
        return (source == OperandSource.BUFFER or matrix(
            channel, entry["address"], entry["stride"], panels)) and (
            source == OperandSource.MEMORY or entry["operand_base"] + used <= config.operand_words)

    def bypass():
        return all(entry[base] + len(rows) <= size for target, base, size in (
            (Bypass.LEFT, "left_base", config.operand_words),
            (Bypass.RIGHT, "right_base", config.bypass_rows),
            (Bypass.SEND, "send_base", config.bypass_rows)) if entry["bypass"] & 1 << target)

    def reduced(first, count):
        return first + count <= banked

    def bypassed():
        return entry["bypass_base"] + len(rows) <= config.bypass_rows

    if opcode == Opcode.AGGREGATE:
        lists = {(region.listing, region.address) for region in regions}
        return (Listing.EDGE_SET, entry["edge_set"]) in lists and (entry["prefetch"] or (
            (Listing.SEND_LIST, entry["send_list"]) in lists and (
                bypassed() if entry["bypassed"] else matrix(entry["channel"], entry["address"]))))
    if opcode == Opcode.MATMUL:
        return len(rows) <= config.accumulator_rows and left(entry["channel"]) and bank(
            entry["weights"], *((tile * entry["weight_stride"], config.lanes)
                                for tile in range(panels)))
    if opcode == Opcode.GRADIENT:
        own = panels if entry["ones"] else panels * config.lanes
        right = bypassed() if entry["bypassed"] else matrix(
            entry["gradient_channel"], entry["gradient_address"], entry["stride"],
            panels if entry["ones"] else 1)
        return len(rows) <= config.accumulator_rows and reduced(
            entry["first_row"], own) and right and (
            not entry["sums"] or reduced(entry["sums_row"], 1)) and (
            entry["ones"] or left(1 - entry["gradient_channel"]))
    if opcode == Opcode.DRAIN:
        masks = -(-len(rows) // config.mask_rows)
        most = config.strip_rows if entry["source"] else config.accumulator_rows
        return len(rows) <= most and matrix(
            entry["channel"], entry["address"]) and bypass() and (
            not (entry["mask_read"] or entry["mask_write"]) or words(entry["mask_address"], masks)
        ) and (not entry["bias"] or bank(entry["bias_weights"], (0, 1)))
    if opcode == Opcode.LOSS:
        return matrix(entry["channel"], entry["address"], entry["stride"], panels) and words(
            entry["info"], -(-len(rows) // config.info_rows)) and (not entry["train"] or (
                matrix(1, entry["destination"], entry["stride"], panels) and bypass()))
    if opcode == Opcode.UPDATE:
        values = (2 + entry["adam"] + 2 * (entry["keep"] | entry["kept"])) * config.state_words
        return reduced(entry["first_row"], entry["rows"]) and bank(
            entry["weights"], (0, entry["rows"])) and words(
            entry["state"], -(-entry["rows"] // cores) * values)
    return True


def edges_of_places(job):
    """What fields may be, about the first and the last place they can name."""
    config, regions = job.config, job.regions.values()
    places = {region.panel(panel) for region in regions for panel in range(max(1, region.panels))}
    places |= {region.address + region.words - rest for region in regions for rest in (0, 4, 9, 20)}
    banks = {edge for place in job.weights.values() for edge in
             (place.base, place.base + place.rows, place.base + place.rows - config.lanes)}
    sizes = {size - rest for size in (config.operand_words, config.bypass_rows,
                                      config.strip_rows * config.cores)
             for rest in (0, 1, 10, 11, 12, 20)}
    few = {0, 1, 2, 3, 4, 5, 9, 10, 11, 19, 20, 32}
    addresses = {"address", "gradient_address", "send_list", "edge_set", "mask_address", "info",
                 "state", "destination"}
    return dict.fromkeys(addresses, places) | dict.fromkeys(
        ("weights", "bias_weights"), banks) | dict.fromkeys(
        ("operand_base", "bypass_base", "left_base", "right_base", "send_base", "first_row",
         "sums_row"), sizes) | dict.fromkeys(
        ("panels", "stride", "row_start", "row_limit", "rows", "channel", "gradient_channel"), few)


@pytest.mark.parametrize("shape", [
    {"features": 9, "hidden": (6,), "density": 1.0, "dropout": 0.5},
    {"features": 9, "hidden": (6, 3), "density": 1.0, "optimiser": "adam", "model": "sage",
     "config": CONFIG.replace(operand_words=16, bypass_rows=16, accumulator_rows=16)},
    {"features": 5, "hidden": (9,), "density": 1.0, "order": AGGREGATE_FIRST,
     "config": CONFIG.replace(bypass_rows=32, accumulator_rows=16)},
    {"features": 9, "hidden": (6,), "density": 1.0,
     "config": CONFIG.replace(bypass_rows=64, accumulator_rows=16, aggregation_rows=32)}], ids=str)
def test_what_is_right_is_what_lies_in_one_place(shape):
    """One or two fields of instructions are changed, to about where places begin and end."""
    job = job_of(**shape)
    generator, edges = random.Random(0), edges_of_places(job)
    kinds = {}
    for entry in map(decode, job.program):
        kinds.setdefault((entry["opcode"], *(entry.get(name) for name in (
            "prefetch", "bypassed", "operand", "ones", "sums", "bypass", "mask_read", "mask_write",
            "bias", "train"))), []).append(entry)
    verdicts = Counter()
    for entries in kinds.values():
        for _ in range(60):
            entry = dict(generator.choice(entries))
            widths = dict(OPERANDS[entry["opcode"]])
            for name in generator.choices([name for name in widths if name in edges] or ["phase"],
                                          k=generator.choice((1, 1, 2))):
                value = generator.choice(sorted(edges.get(name, {0}))) + generator.randint(-1, 1)
                least = name in ("panels", "row_limit", "rows")
                entry[name] = min(max(value, least), (1 << widths.get(name, 4)) - 1)
            fields = dict(entry)
            changed_job = dataclasses.replace(job, program=[encode(fields.pop("opcode"), **fields)])
            expected = bool(fits(job, entry))
            verdicts[expected] += 1
            if expected:
                verify(changed_job)
            else:
                with pytest.raises(ProgramError):
                    verify(changed_job)
    assert min(verdicts.values()) > 150


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_a_sparse_operand_fits_to_its_last_word(lanes):
    """It takes a place for each word of the core with most, but none for the row numbers."""
    shape = {"vertices": 150, "features": 200, "density": 0.02, "config": CONFIG.replace(
        lanes=lanes, operand_words=4096, accumulator_rows=128)}
    job, features = job_of(**shape), model_of(**shape).sample.features.values.toarray()
    row, entry = max(((row, entry) for row, entry in emitted(job, Opcode.MATMUL, sparse=1)
                      if entry["operand"]), key=lambda pair: pair[1]["panels"])
    most = max(sum(max(1, np.count_nonzero(own[:, first:first + lanes].any(axis=1)))
                   for panel in range(entry["panel"], entry["panel"] + entry["panels"])
                   for first in [panel * lanes])
               for own in (deal(features, core, job.config) for core in range(job.config.cores)))
    assert most > 100
    last = job.config.operand_words - most
    verify(changed(job, row, operand_base=last))
    with pytest.raises(ProgramError, match="operand buffer"):
        verify(changed(job, row, operand_base=last + 1))


@pytest.mark.parametrize(("panel", "address", "words", "right"), [
    (0, 0, 2, True), (0, -1, 2, False), (0, -1, 3, False), (0, 0, 1, False), (1, 0, 0, False),
    (-1, None, 0, True), (-1, None, 1, False)])
def test_panels_of_an_index_lie_in_the_matrix(panel, address, words, right):
    """Each with two words at least; counted from its first word, or from behind its last."""
    job = sparse_job()
    (row, entry), *_ = emitted(job, Opcode.MATMUL, sparse=1)
    matrix, name = job.regions[FEATURES], next(
        name for name, region in job.regions.items()
        if region.listing == Listing.INDEX and region.address == entry["address"])
    image = dict(job.images[1])
    index = np.ascontiguousarray(image[name]).copy()
    entries = index.view("<u4").reshape(-1, 2)[:entry["panels"]]
    if address is None:  # up to the last word, and as many beyond it
        entries[panel] = matrix.address + matrix.words - 5, 5 + words
    else:
        entries[panel] = matrix.address + address, words
    image[name] = index
    job = dataclasses.replace(job, program=[job.program[row]],
                              images=[job.images[0], list(image.items())])
    if right:
        verify(job)
        return
    with pytest.raises(ProgramError, match=f"has not {entry['panels']} panels"):
        verify(job)


def test_an_index_has_as_many_panels_as_it_has_entries():
    job = sparse_job()
    row, _ = next((row, entry) for row, entry in emitted(job, Opcode.MATMUL, sparse=1)
                      if entry["weight_stride"] == 4 and not entry["panel"])
    verify(changed(job, row, panels=150, operand=OperandSource.MEMORY))
    with pytest.raises(ProgramError, match="has not 152 panels"):
        verify(changed(job, row, panels=152, operand=OperandSource.MEMORY))


def test_a_core_without_rows_reads_nothing():
    verify(job_of(vertices=1, features=600, density=0.01))


@functools.cache
def sparse_job():
    """A job with several indices."""
    return job_of(features=600, density=0.01)
