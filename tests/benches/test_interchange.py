# SPDX-License-Identifier: BSD-2-Clause
"""The comparison with PyTorch Geometric, where it is installed; else, what is said."""

import importlib.util

import pytest
from click.testing import CliRunner

from hypercast import Graph
from hypercast.benches.interchange import interchange_figures
from hypercast.host.cli import main


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = CliRunner().invoke(main, ["bench", "interchange"])
    assert result.exit_code == 1 and not result.stdout
    assert result.stderr == ("error: torch and torch_geometric not installed, which this bench "
                             "compares with; pip install torch torch_geometric\n")


def test_weights_are_exchanged():
    pytest.importorskip("torch_geometric")
    figures = interchange_figures("karate", Graph.load("karate"), epochs=10, seeds=1,
                                  bar=100.0, progress=lambda text: None)
    found = {one.name: one for one in figures}
    for kind in ("GCN", "GraphSAGE", "GIN"):
        for way in ("to", "from"):
            name = f"karate, {kind}: {way} PyTorch Geometric"
            assert found[f"{name}: largest difference of logits, of the largest"].passed
            assert found[f"{name}: vertices with the same class, of all seeds"].passed
        assert found[f"karate, {kind}: between the two"].bar == 100
        assert found[f"karate, {kind}: an epoch on the reference / there, one thread"].value > 0
