# SPDX-License-Identifier: BSD-2-Clause
"""What compile_job places and refuses."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.compiler.compiler import compile_job, compile_sampled, with_sample
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.packing import unpack_panels, unpack_rows
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.compiler.state import load_state, matrix_of
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.sample import Mantissas
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Split, decode
from hypercast.rtl.placement import core_of, rows_of
from tests.host.compiler.test_sample_plan import CONFIG as SAMPLED
from tests.host.compiler.test_sample_plan import RECIPE, samples_of
from tests.host.models import SMALL, named_model, small_graph, small_model
from tests.host.noted_programs import CASES, noted, summary

ROOMY = SMALL.replace(weight_rows=1024, channel_words=16384, program_rows=4096, tensors=64)
CONFIGS = [
    ROOMY,
    ROOMY.replace(dimensions=0),
    ROOMY.replace(dimensions=3, lanes=4, planes=4, element_width=8),
    ROOMY.replace(dimensions=2, lanes=16, planes=2, accumulator_rows=64),
]


@st.composite
def jobs(draw):
    """Any small network on any small graph: the model and its configuration."""
    vertices = draw(st.integers(1, 70))
    vertex = st.integers(0, vertices - 1)
    graph = small_graph(
        vertices, draw(st.integers(1, 40)), draw(st.integers(1, min(vertices, 5))),
        edges=draw(st.lists(st.tuples(vertex, vertex), max_size=60)), directed=draw(st.booleans()))
    hidden = tuple(draw(st.lists(st.integers(1, 9), max_size=3)))
    if name := draw(st.sampled_from([None, None, None, "gcn", "sage", "gin"])):
        hidden = hidden[:1 if name == "gin" else 2]
        additions = {"jumping": bool(hidden) and draw(st.booleans())}
        if name == "gcn" and hidden and draw(st.booleans()):
            additions["residual"], hidden = True, hidden[:1] * 2
        config = draw(st.sampled_from(CONFIGS))
        return named_model(name, graph, hidden=hidden, config=config, dropout=0.5,
                           **additions), config
    dropout = draw(st.sampled_from([0.0, 0.3]))
    either = st.sampled_from([COMBINE_FIRST, AGGREGATE_FIRST])
    orders = (COMBINE_FIRST if dropout else draw(either), *(draw(either) for _ in hidden))
    config = draw(st.sampled_from(CONFIGS))
    return small_model(graph, hidden=hidden, config=config, dropout=dropout,
                       orders=orders), config


@pytest.mark.parametrize("name", CASES)
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


def test_another_sample_changes_what_is_of_samples():
    """The sample's exponents change, and no others; rows and sizes of splits change, too."""
    network, (small, other) = samples_of(100, 60)
    features, edges = other.features, other.edge_exponent
    other = replace(other, features=Mantissas(features.values, features.exponent + 3),
                    edge_exponent=edges + 2)
    model = InitialModel.of(network, RECIPE, small)
    job = compile_job(model, SAMPLED, capacity=Capacity.of([small]))
    found = with_sample(job, other)
    assert found.rows == other.rows and found.program == job.program
    assert found.exponents.keys() == job.exponents.keys()
    assert {name for name in job.exponents if found.exponents[name] != job.exponents[name]} == {
        "A", "X"}
    assert (found.exponents["A"], found.exponents["X"]) == (
        other.edge_exponent, other.features.exponent)
    assert sum(found.split_sizes) == 60 and sum(job.split_sizes) == 100
    anew = compile_job(InitialModel.of(network, RECIPE, other), SAMPLED, capacity=job.plan.capacity)
    for image, expected in zip(found.images, anew.images, strict=True):
        words, all_words = dict(image), dict(expected)
        assert {"labels", "X"} < words.keys()
        for name in ("labels", "X"):
            np.testing.assert_array_equal(words[name], all_words[name])


def check_regions_lie_apart_and_inside(model, config, job):
    regions = job.regions
    for channel in range(2):
        spans = sorted({(region.address, region.words) for region in regions.values()
                        if region.channel == channel and region.words})
        end = 0
        for address, words in spans:
            assert address >= end, "regions overlap"
            end = address + words
        assert end <= config.channel_words


def check_images_fit_their_regions(model, config, job):
    assert len(job.images) == config.cores
    for image in job.images:
        for name, words in image:
            assert words.shape[1:] == (config.chunks,)
            assert len(words) <= job.regions[name].words
    assert sum(job.split_sizes) == np.count_nonzero(model.sample.splits != Split.NONE)


def check_weights_are_whole_and_apart(model, config, job):
    """Bank rows do not overlap; portions cover each once, and their parts are whole tiles of one
    panel; bank and state hold the model."""
    used = set()
    for name, weights in job.weights.items():
        rows = range(weights.base, weights.base + weights.rows)
        assert not used & set(rows)
        used |= set(rows)
        portions = [portion.rows for portion in weights.portions]
        assert [row for portion in portions for row in portion] == list(range(len(rows)))
        assert all(portion.start % config.cores == 0 for portion in portions)
        for portion in portions:
            parts = list(weights.parts(portion))
            assert [panel * weights.height + row for panel, part in parts for row in part] == \
                list(portion)
            assert all(len(part) and part.start % config.lanes == len(part) % config.lanes == 0
                       for _, part in parts) or weights.height == 1
        bank = unpack_rows(job.weight_bank[rows.start:rows.stop], config)
        assert np.array_equal(matrix_of(bank, weights, config),
                              np.atleast_2d(model.operands()[name]))
        images = [dict(image)[weights.state.name] for image in job.images]
        master, *moments = load_state(weights, config, images)
        assert np.array_equal(master, np.atleast_2d(model.state.parameters[name]["master"]))
        assert len(moments) == len(model.state.parameters[name]) - 1
        assert not any(moment.any() for moment in moments)
    assert len(used) == len(job.weight_bank) <= config.weight_rows


def check_groups_of_reductions_fit_the_accumulators(model, config, job):
    """Portions of a group have reduction rows of their own, all of one buffer at most."""
    used = {}
    for weights in job.weights.values():
        for portion in weights.portions:
            assert portion.first_row % config.cores == 0
            rows = range(portion.first_row, portion.first_row + len(portion.rows))
            assert rows.stop <= config.accumulator_rows * config.cores
            group = used.setdefault(portion.reduction_group, set())
            assert not group & set(rows)
            group |= set(rows)
    assert sorted(used) == list(range(len(used)))


def check_program(model, config, job):
    """The program decodes, fits, ends where it should, and updates every portion once."""
    names = [decode(word)["opcode"].name for word in job.program]
    ends = [row for row, name in enumerate(names) if name == "HALT"]
    assert ends == [*sorted(row - 1 for row in job.starts.values() if row), len(names) - 1]
    assert {"train", "evaluate"} <= set(job.starts) <= {"load", "train", "evaluate"}
    assert [row for row, name in enumerate(names) if name == "UPDATE"] == \
        [row for row, _ in job.updates]
    portions = [name for name, weights in job.weights.items() for _ in weights.portions]
    assert sorted(name for _, name in job.updates) == sorted(portions)
    assert len(set(job.tensors.values())) == len(job.tensors) <= config.tensors


CHECKS = [
    check_regions_lie_apart_and_inside, check_images_fit_their_regions,
    check_weights_are_whole_and_apart, check_groups_of_reductions_fit_the_accumulators,
    check_program,
]


@settings(max_examples=15)
@given(jobs())
def test_any_job(case):
    model, config = case
    job = compile_job(model, config)
    for check in CHECKS:
        check(model, config, job)


FIELD = re.compile(r"raise (\w+) to (\d+)")


@pytest.mark.parametrize(("field", "change", "shape"), [
    ("channel_words", {"channel_words": 64}, {}),
    ("weight_rows", {"weight_rows": 16}, {}),
    ("program_rows", {"program_rows": 16}, {}),
    ("tensors", {"tensors": 8}, {}),
    ("channel_words", {}, {"vertices": 2000}),
    ("weight_rows", {}, {"features": 700}),
])
def test_raising_what_is_named_suffices(field, change, shape):
    """Every refusal names a field and a value with which that field is no problem any more."""
    config, named = SMALL.replace(**change), []
    model = small_model(small_graph(**shape))
    while True:
        try:
            compile_job(model, config)
            break
        except CapacityError as error:
            name, value = FIELD.search(str(error)).groups()
            assert str(error).startswith(f"{name} is {getattr(config, name)}, but ")
            assert int(value) > getattr(config, name)
            config = config.replace(**{name: int(value)})
            named.append(name)
    assert field in named
    assert len(named) == len(set(named)), f"{named}: a named value did not suffice"


def test_words_of_zeros_take_no_memory():
    """However many strips of rows a core has."""
    graph = small_graph(vertices=200, features=64)
    sparse = replace(graph, features=scipy.sparse.csr_array(np.eye(200, 64)))
    config = ROOMY.replace(accumulator_rows=16, channel_words=4096)
    job = compile_job(small_model(sparse, hidden=(2,)), config)
    assert job.regions[FEATURES].words < 200 * 32 // config.cores
    with pytest.raises(CapacityError, match=r"channel_words=\d+\)$"):
        compile_job(small_model(graph, hidden=(2,)), config.replace(channel_words=2048))


def test_smaller_samples_are_another_remedy():
    model = small_model(small_graph(vertices=40))
    with pytest.raises(CapacityError, match=r"channel_words=\d+\); or take smaller samples: --b"):
        compile_job(model, SMALL.replace(channel_words=64), capacity=Capacity.of([model.sample]))


def test_named_value_is_the_smallest():
    config = SMALL.replace(weight_rows=16)
    with pytest.raises(CapacityError) as info:
        compile_job(small_model(), config)
    value = int(FIELD.search(str(info.value))[2])
    with pytest.raises(CapacityError, match="weight_rows"):
        compile_job(small_model(), config.replace(weight_rows=value // 2))


def test_too_large_for_any_configuration():
    graph = small_graph(features=30000)
    with pytest.raises(CapacityError, match=r"weight_rows is 65536, but 120.* are needed: .* no "
                                            r"configuration has as many: use more lanes or cores"):
        compile_job(small_model(graph, hidden=(7,), dropout=0.0),
                    SMALL.replace(weight_rows=65536, channel_words=2**24))


def test_too_many_classes():
    graph = small_graph(vertices=520, classes=513)
    with pytest.raises(CapacityError, match="513 classes, but the loss unit takes 512 at most"):
        compile_job(small_model(graph, hidden=()), ROOMY)


def test_most_classes():
    graph = small_graph(vertices=512, features=1, classes=512)
    config = Config(dimensions=2, lanes=16, accumulator_rows=256)
    assert compile_job(small_model(graph, hidden=(), config=config), config).program


def _sized(*, features=1, vertices=1):
    """Just as much of a model as the first checks look at."""
    return SimpleNamespace(
        recipe=SimpleNamespace(element_width=16), sample=SimpleNamespace(labels=range(vertices)),
        network=SimpleNamespace(classes=2, layers=[SimpleNamespace(features_in=features)]))


def test_more_panels_than_an_instruction_takes():
    with pytest.raises(CapacityError, match="32767 input features, but with lanes = 2 there can "
                                            "be 32766; raise lanes"):
        compile_job(_sized(features=32767), SMALL)


def test_more_rows_than_an_instruction_takes():
    with pytest.raises(CapacityError, match="16777216 vertices, but with dimensions = 1 there must "
                                            "be fewer than 16777216; raise dimensions"):
        compile_job(_sized(vertices=2**24), SMALL)


def test_element_width_of_another_configuration():
    with pytest.raises(CapacityError, match="16-bit elements, the configuration 8-bit; give both"):
        compile_job(small_model(), SMALL.replace(element_width=8))


def test_chip_without_adam():
    model, config = small_model(optimiser="adam"), ROOMY.replace(adam=False)
    assert compile_job(small_model(), config).program
    with pytest.raises(CapacityError, match=r"optimiser is adam, but the configuration's adam is "
                                            r"False: .* set adam to True, or train with sgd"):
        compile_job(model, config)


def test_a_job_for_several_samples():
    """Whatever they are: nothing stays in the operand buffer, all digits are sent, no word of the
    features is left out, and these have a place for all their rows.
    """
    network, [small] = samples_of(100)
    sparse = Mantissas(small.features.values * 0, small.features.exponent)
    model = InitialModel.of(network, RECIPE, replace(small, features=sparse))
    config = SAMPLED.replace(operand_words=1024, accumulator_rows=256)
    job = compile_job(model, config, capacity=Capacity.of([small]))
    assert list(job.starts) == ["train", "evaluate"] and job.labels.weighted
    assert job.regions["X"].columns == network.features
    program = list(map(decode, job.program))
    assert {entry["digits"] for entry in program if "digits" in entry} == {config.digits}
    taken = [entry for entry in program if entry.get("operand") and entry["panels"] > 1]
    assert taken and all(entry["operand_stride"] == entry["stride"] for entry in taken)


@pytest.mark.parametrize("word_sparse", [False, True])
def test_words_are_left_out_on_demand(word_sparse):
    graph = replace(small_graph(vertices=60, features=64),
                    features=scipy.sparse.csr_array(np.eye(60, 64)))
    job = compile_job(small_model(graph, hidden=(2,)), ROOMY.replace(accumulator_rows=32),
                      word_sparse=word_sparse)
    assert bool(job.regions["X"].columns) != word_sparse
    assert {entry.get("sparse", 0) for entry in map(decode, job.program)} == {0, word_sparse}


def resident_model(*sizes, order=AGGREGATE_FIRST, vertices=300):
    network, samples = samples_of(*sizes, vertices=vertices)
    return InitialModel.of(network.with_orders([order] * 2), RECIPE, samples[0]), samples


def test_features_that_stay_are_the_whole_graphs():
    model, (small, other) = resident_model(20, 15)
    jobs = [compile_job(model, SAMPLED, capacity=Capacity.of([small]), ahead=ahead, resident=True)
            for ahead in (False, True)]
    matrix = small.origin.matrix.values
    for job in jobs:
        region = job.regions["X"]
        assert region.stride == -(-len(matrix) // SAMPLED.cores)
        for core, image in enumerate(job.images):
            found = unpack_panels(dict(image)["X"], rows_of(core, len(matrix), SAMPLED.cores),
                                  region.columns, region.stride, SAMPLED)
            assert np.array_equal(found, matrix[core_of(np.arange(len(matrix)), SAMPLED.cores)
                                                == core])
        assert all("X" not in dict(image) for image in with_sample(job, other).images)
    assert not jobs[0].brought_early and jobs[1].brought_early
    after = jobs[1].after_step()
    lists = [name for name in after.regions if name.startswith(("send list", "edge set"))]
    assert len(lists) == 12 and all(
        after.regions[name].address != jobs[1].regions[name].address for name in lists)


@pytest.mark.parametrize(("order", "origin", "message"), [
    (COMBINE_FIRST, True, r"are \('combine_first',\)"),
    (AGGREGATE_FIRST, False, "if the sample says which rows")])
def test_features_that_cannot_stay(order, origin, message):
    model, (sample,) = resident_model(20, order=order)
    if not origin:
        model = model.with_sample(replace(sample, features=Mantissas(
            sample.features.values, sample.features.exponent)))
    with pytest.raises(ValueError, match=message):
        compile_job(model, SAMPLED, capacity=Capacity.of([sample]), resident=True)


def test_features_stay_if_there_is_room():
    """Else batches bring them; and else, steps do not work ahead."""
    model, (sample,) = resident_model(20, vertices=3000)
    found = {}
    for words in (1 << bits for bits in range(7, 16)):
        try:
            job = compile_sampled(model, SAMPLED.replace(channel_words=words),
                                  Capacity.of([sample]), ahead=True)
            found[words] = job.ahead, job.plan.resident
        except CapacityError:
            found[words] = None
    kinds = list(dict.fromkeys(found.values()))
    assert kinds[0] is None and kinds[-1] == (True, True) and (True, False) in kinds
