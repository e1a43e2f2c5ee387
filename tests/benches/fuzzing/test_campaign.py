# SPDX-License-Identifier: BSD-2-Clause
"""Trials in processes: what crashes, hangs or is wrong is found, and does not end the others."""

import os
import time

import pytest

from hypercast.benches.fuzzing.campaign import CRASH, DEFECTS, HANG, run_trials
from hypercast.benches.fuzzing.trial import READ, REFUSED, SAME
from hypercast.benches.fuzzing.trial_kinds import KINDS, kind_of
from hypercast.benches.fuzzing.worker import TRACEBACK

#: In `make test`; the bench makes 10,000 of them.
TRIALS = 200


def failing(seed, number, folder, note):
    """Trial 3 crashes, and trial 5 hangs."""
    note(f"seed {seed}")
    if number == 3:
        os.abort()
    if number == 5:
        time.sleep(60)
    return (TRACEBACK, "line\nOops: no") if number == 6 else (SAME, "")


def test_crashes_and_hangs_are_found():
    outcomes = run_trials(9, range(12), patience=2, make=failing)
    assert [one.number for one in outcomes] == [*range(12)]
    found = {one.number: one for one in outcomes if one.defect}
    assert {number: one.result for number, one in found.items()} == {
        3: CRASH, 5: HANG, 6: TRACEBACK}
    assert found[3].text == "exit status -6" and found[6].summary == "Oops: no"
    assert found[5].summary == "took more than 2 s"
    assert {one.done for one in outcomes} == {"seed 9"}


def check(outcomes):
    defects = [f"python -m hypercast.benches.fuzzing 0 {one.number}: {one.kind}: {one.done}: "
               f"{one.result}: {one.text}" for one in outcomes if one.result in DEFECTS]
    assert not defects, "\n".join(defects)
    for kind in KINDS:
        assert {REFUSED, SAME, READ} & {one.result for one in outcomes if one.kind == kind}


def test_damaged_inputs_are_refused_or_what_they_say():
    check(run_trials(0, range(TRIALS)))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_damaged_inputs_are_refused_or_what_they_say():
    check(run_trials(0, range(TRIALS, 10_000)))


def test_every_kind_is_among_a_few_trials():
    assert {kind_of(number) for number in range(100)} == KINDS.keys()
