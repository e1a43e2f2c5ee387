# SPDX-License-Identifier: BSD-2-Clause
"""Each kind of trial finds what it is there for, and repeats."""

import random
from dataclasses import replace

import numpy as np
import pytest

from hypercast.benches.fuzzing import (
    any_values,
    descriptions,
    edge_meanings,
    graph_arrays,
    graph_files,
    kept_runs,
    link_frames,
    other_tasks,
    sharing,
    weights_files,
)
from hypercast.benches.fuzzing.graph_formats import FORMATS, draw_graph
from hypercast.benches.fuzzing.reading import of_graph
from hypercast.benches.fuzzing.trial import READ, REFUSED, Trial, WrongError, check_refusal, outcome
from hypercast.benches.fuzzing.trial_kinds import KINDS
from hypercast.host.files.reading.regular_file import FileError
from hypercast.host.graphs.graph import Graph, GraphError


def outcomes(tmp_path, attempt, count, seed=0):
    """What comes of some trials, also exceptions, and what was done in them."""
    (tmp_path / "kept").mkdir(exist_ok=True)
    found, notes = [], []
    for number in range(count):
        folder = tmp_path / f"{seed}-{number}-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        try:
            found.append(attempt(Trial(random.Random(f"{seed}/{number}"), folder,
                                       tmp_path / "kept", notes.append)))
        except (WrongError, ZeroDivisionError) as error:
            found.append(type(error))
    return found, notes


@pytest.mark.parametrize("kind", ["graph files", "arrays", "weights", "link frames",
                                  "edited plans", "parallel edges", "any values"])
def test_trials_repeat(tmp_path, kind):
    attempt, _ = KINDS[kind]
    assert outcomes(tmp_path, attempt, 8) == outcomes(tmp_path, attempt, 8)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_read_as_it_is_written(tmp_path, form):
    write, read = FORMATS[form]
    for number in range(10):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = write(folder, random.Random(number), *draw_graph(random.Random(number)))
        assert not of_graph(Graph.load(path)).difference(read(path))


def without_an_edge(load):
    def changed(*arguments, **options):
        graph = load(*arguments, **options)
        edges = graph.edges.tolil()
        for place in np.argwhere(graph.edges.todense())[:1]:
            edges[tuple(place)] = 0
        return Graph(edges=edges.tocsr(), features=graph.features, labels=graph.labels,
                     splits=graph.splits)
    return changed


def test_a_lost_edge_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_files.Graph, "load", without_an_edge(Graph.load))
    found, _ = outcomes(tmp_path, graph_files.try_graph_file, 12)
    assert WrongError in found and not {"still", "as it says"} & {*map(str, found)}


def test_a_lost_edge_of_arrays_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_arrays.Graph, "from_edges", without_an_edge(Graph.from_edges))
    assert WrongError in outcomes(tmp_path, graph_arrays.try_arrays, 12)[0]


@pytest.mark.parametrize("name", ["from_scipy", "from_networkx", "from_pyg", "from_edges"])
def test_weights_that_do_not_add_up_are_found(tmp_path, monkeypatch, name):
    monkeypatch.setattr(edge_meanings.Graph, name, without_an_edge(getattr(Graph, name)))
    found, notes = outcomes(tmp_path, edge_meanings.try_edge_meanings, 40)
    own = {"from_scipy": "matrix", "from_networkx": "networkx", "from_edges": "list"}.get(
        name, "PyTorch")
    wrong = [note for result, note in zip(found, notes, strict=True) if result is WrongError]
    assert wrong and all(note.startswith(own) for note in wrong if name != "from_edges")


def test_an_error_that_is_no_refusal_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(any_values, "random_split", lambda **arguments: 1 / 0)
    assert ZeroDivisionError in outcomes(tmp_path, any_values.try_any_value, 30)[0]


def test_a_tensor_that_is_rounded_is_found(tmp_path, monkeypatch):
    def changed(data):
        graph = load(data)
        return replace(graph, features=graph.features // 2)

    load = Graph.from_pyg
    monkeypatch.setattr(any_values.Graph, "from_pyg", changed)
    assert WrongError in outcomes(tmp_path, any_values.try_tensors, 20)[0]


def test_a_data_set_of_another_task_that_is_loaded_is_found(tmp_path, monkeypatch):
    load = Graph.load
    monkeypatch.setattr(other_tasks.Graph, "load", lambda path: load("karate"))
    assert {*outcomes(tmp_path, other_tasks.try_other_task, 5)[0]} == {WrongError}


def test_rounded_weights_are_found(tmp_path, monkeypatch):
    load = weights_files.load_weights
    monkeypatch.setattr(weights_files, "load_weights", lambda *arguments: {
        name: np.round(values, 2) for name, values in load(*arguments).items()})
    assert WrongError in outcomes(tmp_path, weights_files.try_weights_file, 40)[0]


def test_a_seed_that_is_not_that_of_the_file_is_found(tmp_path, monkeypatch):
    load = descriptions.load_description

    def changed(path):
        found = load(path)
        object.__setattr__(found.recipe, "seed", found.recipe.seed ^ 1)
        return found

    monkeypatch.setattr(descriptions, "load_description", changed)
    assert WrongError in outcomes(tmp_path, descriptions.try_description, 12)[0]


def test_a_checkpoint_without_digest_is_found(tmp_path, monkeypatch):
    from hypercast.host.training import checkpoint_file

    read = checkpoint_file._read

    def trusting(content):
        monkeypatch.setattr(checkpoint_file, "_digest", lambda facts, tensors: digest)
        length = int.from_bytes(content[:8], "little")
        header = content[8:8 + length]
        start = header.find(b'"sha256":"') + 10
        digest = header[start:start + 64].decode("latin1")
        return read(content)

    monkeypatch.setattr(checkpoint_file, "_read", trusting)
    assert WrongError in outcomes(tmp_path, kept_runs.try_checkpoint, 60)[0]


def test_what_a_command_raises_is_not_a_refusal(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        return 1 / 0

    monkeypatch.setattr(link_frames.FrameDecoder, "feed", fail)
    assert ZeroDivisionError in outcomes(tmp_path, link_frames.try_link_frames, 3)[0]


def test_refusals_are_one_line_of_the_projects():
    check_refusal("x.csv, line 3: 'a' is no number", ["x.csv"])
    for message in ("", "x.csv\nis damaged", "y.csv is damaged", "x.csv" * 1000):
        with pytest.raises(WrongError):
            check_refusal(message, ["x.csv"])
    assert outcome(FileError("x is damaged"), ["x"]) == "refused"
    assert outcome(GraphError("x"), ["x"]) == "refused"
    for error in (ValueError("x"), WrongError("x")):
        with pytest.raises(type(error), match="x"):
            outcome(error, ["x"])


def test_edited_plans_and_options_of_boards_are_taken_or_refused(tmp_path):
    for kind, count in (("edited plans", 60), ("options of boards", 12)):
        found, notes = outcomes(tmp_path, KINDS[kind][0], count)
        assert {*found} == {REFUSED, READ}, notes


def test_a_plan_that_gives_boards_other_layers_is_found(tmp_path, monkeypatch):
    made = sharing.assignment_of
    monkeypatch.setattr(sharing, "assignment_of", lambda plan, smoothing: replace(
        made(plan, smoothing), runs=made(plan, smoothing).runs[1:]))
    assert WrongError in outcomes(tmp_path, KINDS["edited plans"][0], 60)[0]
