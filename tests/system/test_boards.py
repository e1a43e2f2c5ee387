# SPDX-License-Identifier: BSD-2-Clause
"""Processes that MPI starts train together: the bits of one, and one message when they end."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hypercast.benches.board_processes import children, ranks_below, strike
from hypercast.host.training.run_folder import RunFolder
from tests.host.test_cli import refused, run
from tests.system.test_kills import results

pytest.importorskip("mpi4py")

SAMPLED = ["blocks", "--sampler", "walks", "--batch", 20, "--hidden", 6, "--micro-batches", 4]
WHOLE = ["blocks", "--hidden", 6]
LAYERS = [*SAMPLED, "--layers", 4, "--scheme", "layers"]
TRAININGS = pytest.mark.parametrize("training", [SAMPLED, WHOLE, LAYERS],
                                    ids=["samples", "graph", "layers"])
COMMAND = Path(sys.executable).with_name("hypercast")


def alone(arguments):
    """The arguments of one board's training."""
    return arguments[:arguments.index("--scheme")] + arguments[arguments.index("--scheme") + 2:] \
        if "--scheme" in arguments else arguments


def started(*arguments):
    return subprocess.Popen([str(word) for word in (COMMAND, "train", *arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def on_boards(*arguments, status=0):
    """What a training prints; of errors the one line."""
    with started(*arguments) as process:
        printed, errors = process.communicate(timeout=120)
    assert process.returncode == status, errors
    if status:
        [line] = errors.strip().splitlines()[-1:]
        return line
    return printed


def kept(folder):
    """All that a training ends in."""
    checkpoint = RunFolder(folder).load_checkpoint()
    state = checkpoint.state
    return results(folder), checkpoint.identity, state.step, state.exponents, \
        state.momentum_exponents, {name: {kind: values.tobytes() for kind, values in arrays.items()}
                                   for name, arrays in state.parameters.items()}


def check_kills(tmp_path, arguments, kills):
    """Train undisturbed on one board, and on several with kills; both end in the same."""
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    run("train", *alone(arguments), "--run", whole)
    for boards, rank, after in kills:
        with started(*arguments, "--boards", boards, "--run", folder, "--resume") as process:
            strike(process, rank, signal.SIGKILL, after)
            _, errors = process.communicate(timeout=120)
        if process.returncode == 0:
            continue  # it was over before
        [line] = errors.strip().splitlines()[-1:]
        assert line.startswith((f"error: the process of board {rank} was ended by signal 9",
                                "error: a process ended while all of them were starting")), errors
    on_boards(*arguments, "--boards", 2, "--run", folder, "--resume")
    assert kept(folder) == kept(whole)


def test_a_board_is_killed_and_the_training_resumed(tmp_path):
    check_kills(tmp_path, [*WHOLE, "--epochs", 60], [(3, 1, 2.0)])


@pytest.mark.slow
@TRAININGS
def test_many_kills(tmp_path, training):
    random.seed(1)
    kills = [(boards, random.randrange(boards), random.uniform(0.1, 5))
             for boards in random.choices((2, 3, 4), k=20)]
    check_kills(tmp_path, [*training, "--epochs", 600, "--optimiser", "adam"], kills)


def test_a_reference_and_a_chip(tmp_path):
    training = ["karate", "--sampler", "neighbours", "--batch", 1, "--fan-outs", 4, "--hidden", 4,
                "--micro-batches", 3, "--preset", "tiny", "--order", "combine_first",
                "--epochs", 2]
    run("train", *training, "--run", tmp_path / "alone")
    on_boards(*training, "--boards", 2, "--device", "reference,rtl", "--run", tmp_path / "boards")
    assert kept(tmp_path / "boards") == kept(tmp_path / "alone")


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "message"), [
    (1, "error: board 1 did not answer for 3 seconds; see what that process does"),
    (0, "error: board 1: board 0 did not answer for 6 seconds; see what that process does"),
])
def test_a_board_that_hangs_is_found(tmp_path, rank, message):
    with started(*SAMPLED, "--epochs", 100000, "--boards", 2, "--timeout", 3, "--run",
                 tmp_path) as process:
        waited(lambda: [*tmp_path.glob("checkpoint*")], 1)  # they train
        strike(process, rank, signal.SIGSTOP, 0)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.startswith(message) and len(errors.splitlines()) == 1


@pytest.mark.slow
def test_a_board_that_hangs_before_all_have_started_is_found():
    with started(*SAMPLED, "--epochs", 100000, "--boards", 2, "--timeout", 3) as process:
        strike(process, 1, signal.SIGSTOP, 0)
        _, errors = process.communicate(timeout=150)
    assert process.returncode == 1
    assert errors == ("error: board 0 waited in vain for other boards to start, for --timeout "
                      "seconds or a minute; see what their processes do\n")


@pytest.mark.parametrize("after", [0.0, 6.0])
def test_all_end_if_the_one_that_started_them_is_killed(after):
    with started(*WHOLE, "--epochs", 1000000, "--boards", 3) as process:
        ranks = waited(lambda: {pid for _, pid in ranks_below(process.pid)}, 3)
        time.sleep(after)
        ranks |= {int(child) for pid in ranks for child in children(pid)} | set(
            map(int, children(process.pid)))
        process.kill()
        process.communicate(timeout=60)
    waited(lambda: [pid for pid in ranks if not goes_on(pid)], len(ranks))


def test_the_process_that_prepares_is_killed():
    with started(*WHOLE, "--epochs", 1000000, "--boards", 2) as process:
        leader = dict(waited(lambda: list(ranks_below(process.pid)), 2))[0]
        [preparing] = waited(lambda: children(leader), 1)
        os.kill(int(preparing), signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors == ("error: the process that prepares the graph was ended by signal 9; if memory "
                      "was used up, take a machine with more of it, or a smaller graph\n")


def waited(function, least):
    """What a function gives, once it has so many elements."""
    deadline = time.monotonic() + 60
    while len(found := function()) < least:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def goes_on(pid):
    """Whether a process is there, and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_is_wrong_with_a_graph_is_said_as_by_one_board(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, edges=[[0, 1], [1, 9]], features=np.eye(3), labels=[0, 1, 0], train=[0])
    assert on_boards(path, "--boards", 2, status=2) == refused("train", path, status=2).strip()
    features = np.full((3, 2), 0.5)
    features[0] = 1e9, 0.5
    np.savez(path, edges=[[0, 1], [1, 2]], features=features, labels=[0, 1, 0], train=[0])
    found = on_boards(path, "--boards", 2, status=2)
    assert "would be zero at all vertices" in found
    assert found == refused("train", path, status=2).strip()


@pytest.mark.slow
def test_what_is_refused_is_said_once():
    assert on_boards(*SAMPLED, "--boards", 6, status=2).startswith(
        "error: [recipe] micro_batches is 4, but 6 boards share the samples of a step")


@pytest.mark.slow
def test_ranks_of_different_trainings(tmp_path):
    """Started by mpirun, each with its own command."""
    mpirun = [COMMAND.with_name("mpirun"), "--oversubscribe",
              *(["--allow-run-as-root"] if os.getuid() == 0 else [])]
    ranks = [["-n", 1, COMMAND, "train", *SAMPLED, "--seed", seed] for seed in (1, 2)]
    found = subprocess.run([str(word) for word in (*mpirun, *ranks[0], ":", *ranks[1])],
                           capture_output=True, text=True, timeout=60)
    assert found.returncode == 1
    assert "error: board 1 trains something else: --seed is 2 on board 1, 1 on board 0; " \
        in found.stderr


@pytest.mark.slow
@TRAININGS
def test_json_of_several_boards_is_that_of_one(training):
    arguments = [*training, "--epochs", 2, "--json"]
    found = [[json.loads(line) for line in lines.splitlines()] for lines in (
        on_boards(*arguments, "--boards", 2), run("train", *alone(arguments)).stdout)]
    for lines in found:
        del lines[-1]["seconds"]
    assert found[0] == found[1]


#: Boards so slow that two are faster than one.
_SLOW = """[boards.slow]
board = "vcu128"
count = 2
megahertz = 1
host_microseconds = 0

[links.network]
gigabits = 100
"""


@pytest.mark.slow
def test_a_cluster_is_planned_and_trained(tmp_path):
    """By itself; a plan for another training is refused."""
    cluster, plan = tmp_path / "cluster.toml", tmp_path / "plan.toml"
    cluster.write_text(_SLOW)
    training = [*WHOLE, "--epochs", 2, "--cluster", cluster]
    found = json.loads(on_boards(*training, "--json").splitlines()[-1])
    assert set(found["waited"]) == {"slow-0", "slow-1"}
    assert found["planned_step_seconds"] == pytest.approx(
        found["board_seconds"] / found["steps"], rel=0.1)
    run("plan", *WHOLE, "--hidden", 7, "--cluster", cluster, "-o", plan)
    assert "but that of this network is ['32 to 6, combine_first'" in on_boards(
        *training, "--plan", plan, status=2)


@pytest.mark.slow
def test_a_plan_that_was_written_is_followed(tmp_path):
    cluster, plan = tmp_path / "cluster.toml", tmp_path / "plan.toml"
    cluster.write_text(_SLOW)
    training = [*SAMPLED, "--layers", 3, "--epochs", 3]
    run("plan", *training, "--cluster", cluster, "-o", plan)
    more = ["--cluster", cluster, "--plan", plan]
    printed = on_boards(*training, *more)
    assert printed.startswith("chosen: ") and "the plan expected " in printed
    assert "a plan for the boards of a cluster; give --cluster as well" in on_boards(
        *training, "--plan", plan, status=2)
    assert "--boards and --plan both say how boards train together" in on_boards(
        *training, *more, "--boards", 2, status=2)
