# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast plan``: a table, a chosen plan, a file, a drawing; what makes no sense is a line."""

import json

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.planner.search import PlanComparison

NUMBERS = ("--vertices", "500", "--edges", "3000", "--features", "16", "--classes", "4",
           "--layers", "3", "--hidden", "8")


def plan(*arguments):
    return CliRunner().invoke(main, ["plan", *map(str, arguments)])


def test_a_graph_is_planned():
    result = plan("karate", "--cluster", "ulx3s-2", "--hidden", 4)
    assert result.exit_code == 0, result.output
    assert "chosen: one board" in result.output
    assert "no PipeDream: a step has one micro-batch" in result.output
    trains = {line.split("│")[1].strip(" *"): line.split("│")[-2].strip()
              for line in result.output.splitlines() if line.startswith("│")}
    for anywhere in ("graph in parallel", "BaPipe", "CoFree-GNN", "PipeGCN", "GNNPipe"):
        assert trains[anywhere] == "yes"


def test_slowdowns_are_said(tmp_path):
    boards = tmp_path / "boards.toml"
    boards.write_text("[boards.a]\nboard = 'u50'\naccumulator_rows = 64\n"
                      "aggregation_rows = 0\nrow_counts = 16\n")
    command = ("--cluster", boards, "--vertices", 40_000, "--edges", 80_000, "--features", 16,
               "--classes", 4, "--hidden", 8)
    result = plan(*command)
    assert result.exit_code == 0, result.output
    assert "slower than it could be: u50: row_counts is 16, but " in result.output
    [line] = json.loads(plan(*command, "--json").stdout)["slowdowns"]
    assert line in result.output


def test_a_plan_is_written_edited_and_evaluated(tmp_path):
    path, drawing = tmp_path / "plan.toml", tmp_path / "plan.svg"
    command = ("--cluster", "u50-2", *NUMBERS, "--sampler", "nodes", "--micro-batches", "4")
    result = plan(*command, "--json", "-o", path)
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["chosen"]["strategy"] in {one["strategy"] for one in document["plans"]}
    assert document["refused"]["GNNPipe"]
    result = plan(*command, "--json", "--evaluate", path)
    assert json.loads(result.stdout)["chosen"] == document["chosen"]
    sections = path.read_text().split("[shares")[0].splitlines()
    pipelined = "\n".join(
        'strategy = "BaPipe"\nschedule = "SO"' if line.startswith("strategy") else line
        for line in sections if not line.startswith("schedule")) + """
[shares.1]
boards = ["u50-1"]
layers = [1]

[shares.2]
boards = ["u50-0"]
layers = [2, 3]
"""
    path.write_text(pipelined)
    result = plan(*command, "--evaluate", path, "--gantt", drawing)
    assert result.exit_code == 0, result.output
    assert "u50-0: layer 2 to layer 3" in result.output
    assert drawing.exists()


def test_where_there_is_nothing_to_draw_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(PlanComparison, "best", lambda found, staleness: next(
        plan for plan in found.plans if not plan.intervals))
    result = plan("--cluster", "u50-2", *NUMBERS, "--sampler", "nodes", "--micro-batches", 4,
                  "-o", tmp_path / "plan.toml", "--gantt", tmp_path / "plan.svg")
    assert result.exit_code == 2
    assert "samples in parallel has no schedule to draw" in result.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("arguments", "text"), [
    (("karate",), "--cluster"),
    (("--cluster", "u50-2"), "give a DATASET, or --vertices"),
    (("karate", "--cluster", "u50-2", *NUMBERS), "give a DATASET, or --vertices"),
    (("karate", "--cluster", "u50-3"), "did you mean u50-"),
    (("karate", "--cluster", "none.toml"), "none.toml"),
    (("--cluster", "u50-2", "--vertices", "5"), "--vertices needs --edges"),
    (("--cluster", "u50-2", *NUMBERS, "--micro-batches", "3"), "whole graph has one micro-batch"),
    (("karate", "--cluster", "u50-2", "--evaluate", "/dev/null"), "/dev/null"),
    (("karate", "--cluster", "u50-2", "-o", "no/folder/x.toml"), "no folder"),
    (("karate", "--cluster", "u50-2", "--gantt", "plan.xyz"), "must end in one of .png, .svg"),
    (("karate", "--cluster", "u50-2", "--gantt", "plan"), "must end in one of .png, .svg"),
    (("karate", "--cluster", "u50-2", "-o", "x.svg", "--gantt", "./x.svg"),
     "x.svg is what -o writes, too"),
])
def test_what_makes_no_sense_is_one_line(arguments, text):
    result = plan(*arguments)
    assert result.exit_code == 2
    assert text in result.output
    assert "Traceback" not in result.output


def test_a_link_that_is_missing_is_named(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text('[boards.a]\nboard = "u50"\ncount = 3\n\n'
                    '[links.cable]\nboards = ["a-0", "a-1"]\ngigabits = 10\n')
    result = plan("karate", "--cluster", path)
    assert result.exit_code == 2
    assert "no link joins the boards a-0 and a-2" in result.output
