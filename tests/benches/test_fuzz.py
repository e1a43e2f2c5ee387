# SPDX-License-Identifier: BSD-2-Clause
"""Bench fuzz: its figures and verdicts."""

from hypercast import benches
from hypercast.benches import fuzz
from hypercast.benches.fuzzing.campaign import CRASH, DEFECTS, Outcome
from hypercast.benches.fuzzing.trial import READ, REFUSED, SAME
from hypercast.benches.fuzzing.trial_kinds import KINDS


def figures(monkeypatch, results):
    def trials(seed, numbers, progress):
        assert (seed, len(numbers)) == (7, 10_000)
        return [Outcome(number, next(iter(KINDS)), results[number % len(results)], "cut", "a\nb")
                for number in numbers]

    monkeypatch.setattr(fuzz, "run_trials", trials)
    return {figure.name: figure
            for figure in benches.run("fuzz", data=None, progress=print, seed=7)}


def test_inputs_without_defects(monkeypatch):
    found = figures(monkeypatch, [REFUSED, SAME, READ, READ])
    assert found["inputs"].value == 10_000
    assert found["graph files: accepted as what they say"].value == 5000
    assert found["weights: refused"].value == 0
    assert all(figure.passed for figure in found.values())


def test_every_defect_is_missed_and_listed(monkeypatch):
    for defect in DEFECTS:
        found = figures(monkeypatch, [SAME, defect])
        assert [figure.value for figure in found.values() if not figure.passed] == [5000]
    assert found[f"7 3: graph files, {defect}: cut: b"].value == 1
    assert defect != CRASH
