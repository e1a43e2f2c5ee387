# SPDX-License-Identifier: BSD-2-Clause
"""How boards are to train together: the same refusals in Python and on the command line."""

import pickle

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cli import main
from hypercast.host.cluster.assignment import SCHEMES, Assignment
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.training.boards import Boards


@pytest.mark.parametrize(("values", "text"), [
    ({"count": 0}, r"\[boards\] count must be 1 to 1024, not 0"),
    ({"count": 1.5}, r"\[boards\] count must be a whole number, not 1\.5"),
    ({"scheme": "rows"}, r"\[boards\] scheme must be samples, graph or layers, not 'rows'"),
    ({"cluster": 3}, r"\[boards\] cluster must be a Cluster, its name or a file, not 3"),
    ({"cluster": "vcu128-3"}, "did you mean vcu128-"),
    ({"plan": ""}, r"\[boards\] plan must be the path of a file, not ''"),
    ({"plan": "a\0b"}, r"\[boards\] plan must be the path of a file, not 'a\\x00b'"),
    ({"cluster": b"x"}, r"\[boards\] cluster must be a Cluster, its name or a file, not a bytes"),
    ({"plan": "{a}.toml"}, r"\[boards\] plan \{a\}\.toml is for the boards of a cluster; give"),
    ({"staleness": "no"}, r"\[boards\] staleness must be true or false"),
    ({"smoothing": 0.5}, r"\[boards\] smoothing is of rows that are a step old; give staleness"),
    ({"smoothing": 2.0, "staleness": True}, r"\[boards\] smoothing must be 0 to 1, not 2\.0"),
    ({"timeout": 0}, r"\[boards\] timeout must be"),
])
def test_refusals(values, text):
    with pytest.raises(DescriptionError, match=text):
        Boards(**values)


def test_values_of_numpy_are_plain():
    boards = Boards(np.int64(2), scheme=np.str_("graph"), staleness=np.bool_(True))
    assert boards == Boards(2, scheme="graph", staleness=True)
    assert type(boards.count) is int and boards.seconds == 600
    assert Boards(cluster="vcu128-2").described == load_cluster("vcu128-2")


def test_a_line_says_what_was_given():
    assert repr(Boards(2)) == "Boards(count=2)"
    assert repr(Boards(scheme="graph", staleness=True)) == "Boards(scheme='graph', staleness=True)"
    assert repr(Boards(cluster="vcu128-2")) == "Boards(cluster=Cluster(vcu128-0, vcu128-1))"


@pytest.mark.parametrize(("boards", "assignment"), [
    (Boards(2), Assignment()), (Boards(2, scheme="layers"), Assignment(scheme="layers")),
    (Boards(2, staleness=True), Assignment(smoothing=0.0)),
    (Boards(2, staleness=True, smoothing=0.5), Assignment(smoothing=0.5)),
    (Boards(2, scheme="layers", staleness=True), Assignment(scheme="layers", versions=2)),
    (Boards(2, scheme="layers", staleness=True, stages=3), Assignment(scheme="layers", stages=3)),
    (Boards(2, scheme="layers", staleness=True, chunks=3), Assignment(scheme="layers", chunks=3))])
def test_what_each_board_does(boards, assignment):
    assert boards.assignment == assignment and not boards.planned and boards.number() == 2


def test_another_process_is_told_of_a_refusal():
    with pytest.raises(DescriptionError) as caught:
        Boards(2, chunks=3)
    assert "--chunks says" in caught.value.on_command_line
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@settings(max_examples=40, deadline=None)
@given(st.fixed_dictionaries({}, optional={
    "scheme": st.sampled_from(SCHEMES), "staleness": st.just(True),
    "smoothing": st.sampled_from([0.0, 0.5]), "stages": st.integers(1, 3),
    "chunks": st.integers(1, 3), "timeout": st.just(9)}), st.sampled_from([None, 1]))
def test_the_command_line_refuses_what_python_does(values, count):
    options = [f"--{name}" if value is True else f"--{name}={value}"
               for name, value in values.items()]
    options += [] if count is None else [f"--boards={count}"]
    try:
        Boards(count, **values).number()
    except DescriptionError as error:
        result = CliRunner().invoke(main, ["train", "karate", "--epochs=1", "--hidden=2",
                                           *options])
        assert result.exit_code == 2 and result.stderr == f"error: {error.on_command_line}\n"
    else:
        assert not {*values}
