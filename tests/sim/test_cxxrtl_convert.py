# SPDX-License-Identifier: BSD-2-Clause
"""Conversions by Yosys: how it is run."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from hypercast.sim import cxxrtl_convert
from hypercast.sim.cxxrtl_convert import convert, flatten


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Names of Yosys' runs, as they end; none has been before."""
    ended = []

    def run(command, folder, name):
        time.sleep(0.2 if name == "version" else 0)
        for module in ("core", "control"):
            (folder / f"{module}.json").write_text(json.dumps({"modules": {module: {}}}))
        ended.append(name)
        return ""

    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cxxrtl_convert, "run", run)
    return ended


def test_yosys_compiles_itself_once_though_two_need_it(runs, tmp_path):
    with ThreadPoolExecutor(1) as pool:
        control = pool.submit(convert, {"control": ""}, tmp_path)
        assert flatten({"core": ""}, tmp_path) == {"core": {}}
        assert control.result() == ["control"]
    assert runs[0] == "version" and sorted(runs[1:]) == ["convert", "flatten"]
    flatten({"core": ""}, tmp_path)
    assert runs.count("version") == 1
