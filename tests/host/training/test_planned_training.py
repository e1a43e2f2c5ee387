# SPDX-License-Identifier: BSD-2-Clause
"""Training by a plan: found for a cluster, read by the leader, told to the others."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.cluster.description import Cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description
from hypercast.host.description.model import Model
from hypercast.host.description.source import Source
from hypercast.host.training.boards import Boards
from hypercast.host.training.planned_training import (
    plan_training,
    read_planned,
    start_planned,
)
from hypercast.host.training.training_session import Session
from tests.host.processes.thread_group import on_ranks

#: So slow that several are faster than one.
BOARDS = Cluster.of_sections({
    "boards": {"slow": {"board": "vcu128", "count": 2, "megahertz": 1, "host_microseconds": 0}},
    "links": {"network": {"gigabits": 100}}})
TRAINING = Description(graph=Source(source="karate"), model=Model(hidden=(4,)))


def test_what_the_leader_reads_all_ranks_do(tmp_path):
    said, path = [], tmp_path / "plan.toml"
    best = plan_training(Boards(cluster=BOARDS), TRAINING, progress=said.append)
    assert best.boards == 2 and said
    assert best.description.graph.graph is not None  # it was read for the plan
    path.write_text(best.text)
    boards = Boards(cluster=BOARDS, plan=path, smoothing=0.5)

    def session(group):
        return Session(TRAINING, boards, group=group, facts={}, progress=said.append)

    leader, other = on_ranks(2, session)
    with pytest.raises(DescriptionError, match="is for 2 boards, but 3 processes were started; "
                                              "start 2, or leave mpirun out"):
        read_planned(boards, TRAINING, 3, progress=said.append)
    assert leader.leads and not other.leads and leader.shared and other.shared
    assert other.description.sections() == leader.description.sections()
    assert other.planned is None and leader.planned.plan == best.plan
    assert leader.description.graph.graph is None  # it does not need the whole one
    assert other._sharing.assignment == leader._sharing.assignment == best.assignment
    assert best.assignment.scheme == "graph"
    assert sum(best.assignment.parts) == pytest.approx(1)
    assert len(leader.description.model.order) == 2


@pytest.mark.parametrize("smoothing", [None, 0.5])
def test_rows_that_are_a_step_old_are_smoothed_as_boards_say(tmp_path, smoothing):
    """By a plan that is found, and by one in a file."""
    best = plan_training(Boards(cluster=BOARDS, staleness=True, smoothing=smoothing), TRAINING,
                         progress=str)
    assert best.plan.strategy == "PipeGCN" and best.assignment.smoothing == (smoothing or 0)
    path = tmp_path / "plan.toml"
    path.write_text(best.text)
    read = read_planned(Boards(cluster=BOARDS, plan=path, smoothing=smoothing), TRAINING, 2,
                        progress=str)
    assert read.assignment == best.assignment


def test_without_a_plan_as_many_train_as_were_started():
    """Only of several it can be said how they train together."""
    boards, shared = Boards(scheme="graph", staleness=True), Boards(count=2, scheme="graph")

    def session(group, boards=boards):
        return Session(TRAINING, boards, group=group, facts={}, progress=str)

    for found in on_ranks(2, session):
        assert found.planned is None and found._sharing.assignment == boards.assignment
    with pytest.raises(DescriptionError, match="says how boards train together; give"):
        session(None)
    assert session(None, shared)._sharing.assignment == shared.assignment


def test_one_board_may_be_best():
    result = CliRunner().invoke(main, ["train", "karate", "--cluster", "vcu128-2", "--hidden", "4",
                                       "--epochs", "1"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("chosen: one board")


@pytest.mark.parametrize(("options", "text"), [
    (("--plan", "plan.toml"), "give --cluster as well"),
    (("--plan", "plan.toml", "--cluster", "vcu128-2", "--boards", "2"),
     "--boards and --plan both say"),
    (("--plan", "plan.toml", "--cluster", "vcu128-2", "--scheme", "graph"),
     "--scheme and --plan both say"),
    (("--plan", "plan.toml", "--cluster", "vcu128-2"), "is no plan"),
    (("--smoothing", "0.5"), "give --staleness as well"),
    (("--stages", "2"), "give --scheme layers and --staleness as well"),
    (("--stages", "2", "--staleness", "--scheme", "graph"), "give --scheme layers and --staleness"),
    (("--chunks", "2", "--staleness"), "--chunks says what is older where boards have a run of"),
    (("--chunks", "2", "--stages", "2", "--staleness", "--scheme", "layers"), "leave one of them"),
    (("--staleness",), "--staleness says how boards train together; give --boards as well"),
    (("--scheme", "layers", "--boards", "1"), "but --boards is 1; give 2 or more"),
    (("--cluster", "vcu128-3"), "did you mean vcu128-"),
    (("--cluster", "ulx3s-2"), "give --elements 8"),
])
def test_what_makes_no_sense_is_one_line(options, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text("")
    result = CliRunner().invoke(main, ["train", "karate", *options])
    assert result.exit_code == 2, result.output
    assert text in result.output


class _StartedError(Exception):
    """Ends this process, as starting others does."""


def test_boards_of_a_plan_are_started(tmp_path):
    """With the plan that was given, or with the one that was found, in a file; one board is not."""
    said, path = [], tmp_path / "plan.toml"

    def start(count, arguments):
        started.append((count, arguments))
        if "--plan" in arguments:
            path.write_text(Path(arguments[-1]).read_text())
        raise _StartedError

    started = []
    with pytest.raises(_StartedError):
        start_planned(Boards(cluster=BOARDS), TRAINING, ["train", "karate"], start, said.append)
    [(count, [*command, option, _])] = started
    assert (count, command, option) == (2, ["train", "karate"], "--plan") and said
    given = Boards(cluster=BOARDS, plan=path)
    with pytest.raises(_StartedError):
        start_planned(given, TRAINING, ["train"], start, said.append)
    assert started[1] == (2, ["train"])
    alone = start_planned(Boards(cluster="vcu128-2"), TRAINING, ["train"], start, said.append)
    assert alone.boards == 1 and len(started) == 2
    path.write_text(alone.text)
    given = Boards(cluster="vcu128-2", plan=path)
    assert start_planned(given, TRAINING, ["train"], start, said.append) is None
