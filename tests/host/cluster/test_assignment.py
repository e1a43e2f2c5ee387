# SPDX-License-Identifier: BSD-2-Clause
"""Who does what: boards take turns, each as often as it is to; and which combinations can be."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import GRAPH, LAYERS, SAMPLES, Assignment, turns
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.reference.recipe import Recipe
from hypercast.reference.stale_rows import SMOOTHING_ONE


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_each_board_has_its_count_and_a_short_step_is_shared(counts):
    found = turns(counts)
    total = sum(counts)
    assert Counter(found) == dict(enumerate(counts))
    for length in range(total + 1):
        taken = Counter(found[:length])
        assert all(abs(taken[board] - length * count / total) < 1 + count / total * len(counts)
                   for board, count in enumerate(counts))


def test_equal_boards_take_turns_in_order():
    assert turns([2, 2, 1]) in ([0, 1, 2, 0, 1], [0, 1, 0, 1, 2], [0, 1, 2, 0, 1])
    assert turns([3, 3]) == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(("given", "older", "stale"), [
    ({}, False, False), ({"versions": 1, "stages": 1, "chunks": 0}, False, False),
    ({"versions": 2}, True, True), ({"stages": 2}, True, True), ({"chunks": 1}, False, True),
    ({"smoothing": 0.0}, False, True), ({"smoothing": 0.5}, False, True),
    ({"scheme": "layers", "boards": ("a", "b"), "in_flight": (2, 1)}, False, False)])
def test_what_is_older_than_on_one_board(given, older, stale):
    assignment = Assignment(**given)
    assert (assignment.older_weights, assignment.stale) == (older, stale)


@pytest.mark.parametrize("sampler", [None, "neighbours", "walks", "cut"])
def test_what_is_shared_if_nothing_is_said_follows_from_what_steps_work_on(sampler):
    fields = {"boards": ("a", "b"), "in_flight": (2, 1)}
    found = Assignment(**fields).complete(Sampling(sampler=sampler))
    assert found == Assignment(**fields, scheme=SAMPLES if sampler else GRAPH)
    assert found.complete(Sampling(sampler=sampler)) == found
    layers = Assignment(scheme=LAYERS)
    assert layers.complete(Sampling(sampler=sampler)) == layers


@pytest.mark.parametrize(("assignment", "sampler", "message"), [
    ({"scheme": SAMPLES}, None, "steps work on the whole graph; give a sampler"),
    ({"scheme": GRAPH}, "cut", "steps work on samples; leave the sampler out"),
    ({"smoothing": 0.0}, "cut", "stale halos are those of boards that share a whole graph"),
    ({"scheme": LAYERS, "smoothing": 0.0}, None, "stale halos are those of boards that share"),
    ({"versions": 2}, None, "weights are older where boards have a run"),
    ({"stages": 1}, "cut", "weights are older where boards have a run"),
    ({"scheme": LAYERS, "versions": 2, "stages": 1}, None, "give one of the two"),
    ({"chunks": 1}, None, "chunks are those of a whole graph that goes through layers"),
    ({"scheme": LAYERS, "chunks": 1}, "cut", "chunks are those of a whole graph"),
    ({"scheme": LAYERS, "chunks": 1, "versions": 2}, None, "either rows of chunks are older"),
    ({"scheme": LAYERS, "chunks": 1, "stages": 1}, None, "either rows of chunks are older")])
def test_what_does_not_go_together(assignment, sampler, message):
    with pytest.raises(DescriptionError, match=message):
        Assignment(**assignment).complete(Sampling(sampler=sampler))


@pytest.mark.parametrize("assignment", [
    {"smoothing": 0.0}, {"scheme": LAYERS, "versions": 2}, {"scheme": LAYERS, "stages": 1},
    {"scheme": LAYERS, "chunks": 1}])
def test_what_goes_together(assignment):
    assert Assignment(**assignment).complete(Sampling()) == Assignment(
        **{"scheme": GRAPH, **assignment})


def network(model=None):
    return (model or Model(hidden=(4, 4))).network_of(7, 3)


@pytest.mark.parametrize(("sampler", "boards", "chip", "message"), [
    (None, 1, True, "but steps work on the whole graph, so the device evaluates anyway; give"),
    ("cut", 2, True, "but 2 boards train together; train on one, or leave it out"),
    ("cut", 1, False, "but that is the reference, on the host; name a chip, such as rtl, or"),
])
def test_evaluations_on_a_device(sampler, boards, chip, message):
    """What the host does is refused nowhere, nor a chip that trains alone on samples."""
    def evaluated(device, sampling, boards, **more):
        micro_batches = boards if sampling.sampler else 1
        Assignment().check(Recipe(micro_batches=micro_batches), sampling, device, boards,
                           network=network(), **more)

    sampling = Sampling(sampler=sampler)
    with pytest.raises(DescriptionError, match="evaluate_on is device, " + message) as error:
        evaluated(Device("rtl" if chip else "reference", evaluate_on="device"), sampling, boards)
    assert (error.value.section, error.value.key) == ("device", "evaluate_on")
    evaluated(Device("rtl"), sampling, boards)
    evaluated(Device("rtl", evaluate_on="device"), Sampling(sampler="cut"), 1)
    evaluated(Device(evaluate_on="device"), Sampling(sampler="cut"), 1, chip=True)


@pytest.mark.parametrize(("assignment", "boards", "model", "message"), [
    (Assignment(scheme="layers"), 4, None, "^4 boards share 3 layers, but each needs one; take 3"),
    (Assignment(scheme="layers", stages=4), 1, None,
     "^4 stages share 3 layers, but each needs one; take 3 stages or fewer, or deepen the network"),
    (Assignment(scheme="graph", smoothing=0.0, parts=(1.0, 1.0)), 3, None,
     "^rows of 2 parts of the graph reach each other a step late, but 3 boards would share it"),
    (Assignment(scheme="layers", versions=2), 2, Model(hidden=(4, 4), jumping=True),
     "^with jumping knowledge, the outputs of layers 1, 2 have one exponent"),
    (Assignment(scheme="layers", stages=2), 2, Model("gcnii", layers=3, hidden=4),
     "^with an initial residual, the gradients of layer 1's outputs have one exponent")])
def test_what_a_network_does_not_allow(assignment, boards, model, message):
    with pytest.raises(DescriptionError, match=message):
        assignment.check(Recipe(), Sampling(), Device(), boards, network=network(model))


@pytest.mark.parametrize(("assignment", "what"), [
    ({"scheme": LAYERS, "chunks": 4}, "rows of chunks"),
    ({"scheme": LAYERS, "versions": 2}, "older weights"),
    ({"scheme": LAYERS, "stages": 2}, "older weights"),
    ({"scheme": GRAPH, "smoothing": 0.5}, "stale halos")])
def test_what_is_older_is_no_chips(assignment, what):
    """One process stands for boards with anything that is older, as the reference only."""
    found = Assignment(**assignment)
    with pytest.raises(DescriptionError, match=f"what boards with {what} would.*not rtl or ser") \
            as error:
        found.check_alone(["serial", "reference", "rtl", "rtl"])
    assert (error.value.section, error.value.key) == ("device", "name")
    found.check_alone(["reference"])
    found.check_alone([])
    Assignment(scheme=assignment["scheme"]).check_alone(["rtl"])


@pytest.mark.parametrize("sampler", [None, "cut"])
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_micro_batches_are_samples(sampler, check, count):
    """They are refused without a sampler, and where each is compared."""
    def checked():
        Assignment().check(Recipe(micro_batches=count), Sampling(sampler=sampler), Device(), 1,
                           network=network(), check=check)

    if count == 1 or (sampler and not check):
        checked()
        return
    reason = "one sample a step can be compared" if sampler else "steps work on the whole graph"
    with pytest.raises(DescriptionError, match=f"micro_batches is 2, but {reason}") as error:
        checked()
    assert (error.value.section, error.value.key) == ("recipe", "micro_batches")


@pytest.mark.parametrize(("smoothing", "kept"), [
    (None, None), (0.0, 0), (0.5, SMOOTHING_ONE // 2), (1 - 1 / SMOOTHING_ONE, SMOOTHING_ONE - 1)])
def test_smoothing_is_kept_in_whole_parts(smoothing, kept):
    assert Assignment(smoothing=smoothing).kept_smoothing == kept


@pytest.mark.parametrize("smoothing", [-1 / SMOOTHING_ONE, 1.0, 2.0])
def test_smoothing_is_below_one(smoothing):
    with pytest.raises(DescriptionError, match="must be at least 0 and at most"):
        _ = Assignment(smoothing=smoothing).kept_smoothing


def test_names_of_options_are_those_of_the_command_line():
    with pytest.raises(DescriptionError) as caught:
        Assignment(scheme="layers", versions=2).check(
            Recipe(), Sampling(), Device(), 2, check=True, network=network())
    assert str(caught.value) == "check compares one board with the reference, but 2 train " \
        "together; leave it out"
    assert caught.value.on_command_line == f"--{caught.value}"
    placed = caught.value.at("a.toml, line 3")
    assert placed.on_command_line == f"a.toml, line 3: --{caught.value}"
