# SPDX-License-Identifier: BSD-2-Clause
"""The host's work for a large graph, on a small one: its parts, and what ends it."""

import pytest

from hypercast.benches import large_compilation as measured
from hypercast.benches.large_graphs import LargeGraph
from hypercast.benches.measured_part import Part

SMALL = LargeGraph(3_000, 30_000, (20, 8, 5))


def run(graph=SMALL):
    """Figures by their names up to the reasons."""
    told = []
    figures = measured.large_compilation("small", graph, told.append)
    assert told
    return {figure.name.partition(";")[0]: figure for figure in figures}


def test_all_parts():
    found = run()
    assert all(figure.passed for figure in found.values())
    for name in measured._PARTS:
        assert found[f"small, host: {name}"].value >= 0
        assert 0.01 < found[f"small, host: peak memory, {name}"].value < 5
    seconds = [found[f"small, host: {name}"].value for name in measured._PARTS]
    assert found["small, host: all parts"].value == pytest.approx(sum(seconds)) != 0


def test_too_little_memory(monkeypatch):
    monkeypatch.setattr(measured, "_BYTES", 1)
    parts = run()["small, host: parts done"]
    assert parts.value < 5 and not parts.passed and "; " in parts.name


def test_too_little_time(monkeypatch):
    # Less than the process took before its parts, so that it ends at once on any machine.
    monkeypatch.setattr(measured, "_SECONDS", -1)
    parts = run(LargeGraph(30_000, 600_000, (60, 64, 5)))["small, host: parts done"]
    assert parts.value < 5 and not parts.passed and "was ended by signal" in parts.name


def test_verdicts():
    parts = [Part(name, 100.0, 19.0) for name in measured._PARTS]

    def missed(parts, ended=""):
        return [figure.name for figure in measured._figures("t", parts, ended)
                if not figure.passed]

    assert not missed(parts)
    assert missed([*parts[:4], Part("x", 201.0, 19.0)]) == ["t: all parts"]
    assert missed([*parts[:4], Part("x", 1.0, 20.1)]) == ["t: peak memory"]
    assert missed([*parts[:4], Part("x", 1.0, 1.0, "no room")]) == ["t: parts done; x: no room"]
    assert missed(parts[:3], "; the process was ended") == ["t: parts done; the process was ended"]
