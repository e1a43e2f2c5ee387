# SPDX-License-Identifier: BSD-2-Clause
"""The examples that describe trainings, and those in Python, run as they stand."""

import json
import re
import runpy
import tomllib

import pytest

from tests.host.test_cli import run
from tests.packaging.source_tree import ROOT

EXAMPLES = ROOT / "examples"


#: The others describe trainings.
CLUSTERS = [EXAMPLES / "cluster.toml"]


@pytest.mark.parametrize("path", CLUSTERS, ids=lambda path: path.name)
def test_cluster(path):
    assert json.loads(run("plan", "karate", "--cluster", path, "--json").stdout)


@pytest.mark.parametrize("path", sorted({*EXAMPLES.glob("*.toml")} - {*CLUSTERS}),
                         ids=lambda path: path.name)
def test_description(path, tmp_path):
    result = run("train", path, "--epochs", 2, "--run", tmp_path, "--json")
    assert json.loads(result.stdout.splitlines()[-1])["epoch"] == 1
    written, kept = (tomllib.loads(one.read_text()) for one in (path, tmp_path / "run.toml"))
    for section, keys in written.items():
        for key, value in keys.items():
            if key not in ("epochs", "elements"):
                assert kept[section][key] == value, f"{section}.{key}"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("[!_]*.py")), ids=lambda path: path.name)
def test_python(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    accuracy = re.search(r"test accuracy ([\d.]+)%", capsys.readouterr().out)
    assert float(accuracy[1]) > 80
