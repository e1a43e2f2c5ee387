# SPDX-License-Identifier: BSD-2-Clause
"""Which training step is recorded, and when none can be."""

import itertools

import pytest

from hypercast.errors import InputError
from hypercast.host.training.recorded_step import check_to_come, choose_recorded_step


def choose(device="rtl", **options):
    return choose_recorded_step(device, 5, **{
        "wanted": None, "traced": False, "kept": False, "pieces": False, **options})


@pytest.mark.parametrize(("options", "step"), [
    ({}, None), ({"traced": True}, 5), ({"kept": True}, 5), ({"traced": True, "wanted": 2}, 2),
    ({"kept": True, "wanted": 5}, 5), ({"kept": True, "pieces": True}, None),
    ({"device": "reference", "kept": True}, None), ({"device": "serial", "kept": True}, None),
])
def test_the_step_that_is_asked_for_or_the_last(options, step):
    assert choose(**options) == step


@pytest.mark.parametrize(("options", "text"), [
    ({"device": "reference", "traced": True}, "the reference has no cycles to trace; add --device"),
    ({"device": "reference", "wanted": 1}, "the reference has no cycles to trace; add --device"),
    ({"device": "serial", "traced": True}, "a board keeps no timeline; add --device rtl"),
    ({"pieces": True, "traced": True}, "of which no timeline is kept; leave out --trace, --vcd"),
    ({"pieces": True, "wanted": 1}, "of which no timeline is kept; leave out --trace, --vcd"),
    ({"wanted": 1}, "says which step --trace, --vcd or --run records; give one of them"),
    ({"kept": True, "wanted": 6}, "--trace-step 6 is beyond the last of 5 epochs; raise --epochs"),
])
def test_what_cannot_be_recorded(options, text):
    with pytest.raises(InputError, match=text):
        choose(**options)


def test_what_is_asked_for_is_recorded_or_refused():
    """No request is left out silently."""
    for device, wanted, traced, kept, pieces in itertools.product(
            ("rtl", "reference", "serial"), (None, 1, 5, 6), *[(False, True)] * 3):
        try:
            found = choose(device, wanted=wanted, traced=traced, kept=kept, pieces=pieces)
        except InputError:
            assert traced or wanted
        else:
            assert found == (wanted or 5) if traced or wanted else found in (None, 5)


@pytest.mark.parametrize(("step", "epoch", "wanted", "remedy"), [
    (3, 3, None, "raise --epochs"), (2, 7, 2, "give a later --trace-step")])
def test_a_step_that_has_been(step, epoch, wanted, remedy):
    with pytest.raises(InputError, match=(
            f"^the training step of epoch {step} is to be recorded, but the checkpoint is of "
            f"epoch {epoch}; {remedy}$")):
        check_to_come(step, epoch, wanted=wanted)
    check_to_come(epoch + 1, epoch, wanted=wanted)
