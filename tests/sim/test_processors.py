# SPDX-License-Identifier: BSD-2-Clause
"""How many processors a process may use: those of the machine, or what a container is given."""

import os

import pytest

from hypercast.sim.processors import processors


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


@pytest.mark.parametrize(("limit", "expected"), [
    ("200000 100000", 2), ("150000 100000", 2), ("10000 100000", 1), ("9900000 100000", 8),
    ("max 100000", 8), ("", 8)])
def test_limits_of_a_container(tmp_path, limit, expected):
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert processors(tmp_path) == expected


@pytest.mark.parametrize(("quota", "expected"), [(300000, 3), (-1, 8)])
def test_limits_of_older_systems(tmp_path, quota, expected):
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu/cpu.cfs_quota_us").write_text(f"{quota}\n")
    (tmp_path / "cpu/cpu.cfs_period_us").write_text("100000\n")
    assert processors(tmp_path) == expected


def test_no_limits(tmp_path):
    assert processors(tmp_path) == 8


def test_systems_that_bind_no_process(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert processors(tmp_path) == 3
