# SPDX-License-Identifier: BSD-2-Clause
"""Whether boards can train so is the same for Python, the command line and a plan."""

from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hypercast import Boards, Device, Graph, Model, Sampling, Trainer
from hypercast.errors import HypercastError
from hypercast.host.cli import main
from hypercast.host.cluster.assignment import SCHEMES
from hypercast.host.commands import train as command
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.source import Source
from hypercast.host.training import deployment, training_session
from hypercast.host.training.trainer_arguments import Sharing
from tests.host.processes.thread_group import ThreadGroup

KARATE = Source(source="karate").with_graph(Graph.load("karate"))
ACCEPTED = "accepted"
MODELS = {"gcn": Model(hidden=2), "jumping": Model(hidden=2, jumping=True),
          "initial": Model("gcnii", layers=2, hidden=2)}


@st.composite
def trainings(draw):
    """How many boards, how they are to train, and the rest of a training."""
    boards = {"scheme": draw(st.sampled_from([None, *SCHEMES])), "staleness": draw(st.booleans())}
    for name, values in (("smoothing", [0.5]), ("stages", [1, 2, 3]), ("chunks", [2])):
        if draw(st.integers(0, 3)) == 0:
            boards[name] = draw(st.sampled_from(values))
    return SimpleNamespace(
        count=draw(st.integers(1, 3)), boards=boards, model=draw(st.sampled_from([*MODELS])),
        sampler=draw(st.sampled_from([None, "nodes"])), micro=draw(st.integers(1, 3)),
        device=draw(st.sampled_from(["reference", "reference,reference", "rtl"])),
        on_device=draw(st.booleans()), check=draw(st.booleans()))


def verdict(function):
    """What a training is refused with, or that it is not."""
    try:
        function()
    except HypercastError as error:
        return error
    return ACCEPTED


def python(training, boards):
    """A trainer in Python, which starts no process before it is used."""
    sampling = Sampling(training.sampler, batch=12) if training.sampler else None
    device = Device(training.device, preset="tiny",
                    **({"evaluate_on": "device"} if training.on_device else {}))
    return Trainer(KARATE, MODELS[training.model], device, sampling=sampling, boards=boards,
                   check=training.check, micro_batches=training.micro, epochs=1)


def by_plan(training, patch):
    """The same by a plan that says what each board does."""
    boards = Boards(training.count, **training.boards)
    boards.number()

    def plan(given, description, graph, progress):
        return SimpleNamespace(description=description, boards=training.count,
                               assignment=boards.assignment)

    with patch.context() as changed:
        changed.setattr(deployment, "plan_training", plan)
        python(training, Boards(cluster="vcu128-4"))


def on_command_line(training, patch):
    """What ``hypercast train`` prints of it on the leader of as many processes."""
    of_boards = [f"--{name}" if value is True else f"--{name}={value}"
                 for name, value in training.boards.items() if value not in (None, False)]
    arguments = {
        "gcn": (), "jumping": ("--jumping",), "initial": ("--model=gcnii", "--layers=2")}
    group = ThreadGroup(0, training.count, [], None) if training.count > 1 else None

    def accepted(description, **options):
        Trainer.of_description(description, graph=KARATE.graph, **{
            name: value for name, value in options.items() if name in ("boards", "check")})
        raise KeyboardInterrupt

    with patch.context() as changed:
        changed.setattr(command, "world", lambda seconds: group)
        changed.setattr(training_session, "agree", lambda *_: None)
        changed.setattr(training_session, "Trainer", SimpleNamespace(of_description=accepted))
        result = CliRunner().invoke(main, [
            "train", "karate", "--hidden=2", "--epochs=1", f"--boards={training.count}",
            *arguments[training.model], f"--micro-batches={training.micro}", "--preset=tiny",
            *(("--sampler=nodes", "--batch=12") if training.sampler else ()),
            f"--device={training.device}", *(["--evaluate-on=device"] * training.on_device),
            "--check" if training.check else "--no-check", *of_boards])
    if "SIGINT" in result.stderr:
        return ACCEPTED
    return result.stderr.removeprefix("error: ").removesuffix("\n")


@settings(max_examples=60, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(training=trainings())
def test_the_verdict_is_the_same_however_it_is_said(monkeypatch, training):
    found = verdict(lambda: python(training, Boards(training.count, **training.boards)))
    printed = on_command_line(training, monkeypatch)
    planned = verdict(lambda: by_plan(training, monkeypatch))
    if found == ACCEPTED:
        assert printed == planned == ACCEPTED
    else:
        text = getattr(found, "on_command_line", str(found))
        assert (printed, str(planned)) == (text, str(found))


def test_python_of_one_of_several_says_the_same():
    with pytest.raises(DescriptionError) as caught:
        Trainer(KARATE, Model(hidden=2), boards=Sharing(
            group=ThreadGroup(0, 2, [], None), assignment=Boards(2, scheme="samples").assignment))
    assert "give a sampler, or another scheme" in str(caught.value)
