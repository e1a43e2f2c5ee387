# SPDX-License-Identifier: BSD-2-Clause
"""Whatever is given for a part of a graph, there is a graph, or a ``GraphError`` of one line."""

import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hypercast.host.graphs.datasets import DatasetError, random_split, split_per_class
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_error import GraphError

SIMPLE = (None, True, -1, 0, 3, 2**63, -2**63 - 1, 10**400, 0.5, float("nan"), float("inf"), 1j, "",
          "train", "\0\n", b"x", Fraction(1, 2), np.float32(2), np.int64(1), np.datetime64("NaT"),
          np.timedelta64(1, "s"), np.ma.masked, Ellipsis, object())
LISTS = ([[0, 1], [2]], [[0, 1], 2], [[[0, 1]], [[2, 3]]], [[0, 1], "ab"], [[0, 1], None],
         ([0, 1], [1, 2]), [[0], [1, 2, 3]], [np.zeros(2), np.zeros(3)], [{}, []], [[]], [[], []],
         [True, False, True, False], [[0, 1.5]], ["a", "b", "c", "d"], [0, 1, 2**70, 3])
OTHERS = (
    {"a": 1}, {0, 1}, frozenset(), range(4), iter([0, 1]), (x for x in ()), len, int, Exception(),
    Counter("ab"), Path(), SimpleNamespace(shape=(4, 4)), memoryview(b"abcd"), np.matrix([[0, 1]]),
    np.ma.masked_array([0, 1, 2, 3], mask=[0, 1, 0, 0]), np.ma.masked_array([0, 1, 1, 0]),
    np.rec.array([(1, 2.0)], dtype=[("x", "i4"), ("y", "f4")]), np.array(["2020"], "M8[D]"),
    np.array([[0, 1]], "m8[s]"), np.array([object()] * 4), np.array(b"x"), np.zeros((4, 2), "V3"),
    scipy.sparse.eye_array(4), scipy.sparse.csr_matrix((4, 4), dtype=complex),
    scipy.sparse.coo_array([1, 0, 2, 0]), scipy.sparse.random_array((4, 4, 4)),
    scipy.sparse.dok_array((2, 3)), networkx.path_graph(4))


class Hostile:
    """Answers with errors of kinds that nobody expects."""

    shape = property(lambda self: 1 / 0)

    def __getattr__(self, name):
        raise KeyError(name)

    def __array__(self, *args, **kwargs):
        raise RuntimeError("two\nlines")


class Unsized:
    """A sequence that does not say how long it is."""

    def __getitem__(self, index):
        if index > 20:
            raise IndexError
        return 0 if index < 9 else [0]

    def __len__(self):
        raise OSError("no length")


def anything():
    """Values of many types, now and then like those that are meant."""
    scalar = st.sampled_from(SIMPLE) | st.floats() | st.integers(-5, 5)
    nested = st.recursive(scalar, lambda inner: st.lists(inner, max_size=4), max_leaves=9)
    shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    values = arrays.arrays(
        st.sampled_from([bool, np.int8, np.uint64, np.float16, np.float64, np.longdouble, complex,
                         "U2", "S1", "O", "m8[s]"]), shapes | st.just((4, 2)) | st.just((4,)))
    return scalar | nested | values | st.sampled_from(LISTS + OTHERS) | st.builds(Hostile) | \
        st.builds(Unsized)


def parts():
    return {"edges": [[0, 1], [1, 2], [2, 3]], "features": np.eye(4), "labels": [0, 1, 0, 1],
            "train": [0], "validation": [1], "test": [2]}


def from_edges(given_):
    return Graph.from_edges(**parts() | given_)


def from_scipy(given_):
    adjacency = scipy.sparse.csr_array(np.eye(4))
    return Graph.from_scipy(**{
        name: value for name, value in ({"adjacency": adjacency} | parts() | given_).items()
        if name != "edges"})


def from_networkx(given_):
    return Graph.from_networkx(**{
        name: value for name, value in (
            {"graph": networkx.path_graph(4)} | parts() | given_).items() if name != "edges"})


def from_pyg(given_):
    names = ("weight", "parts")
    data = {"x": np.eye(4), "y": np.array([0, 1, 0, 1]), "edge_index": np.array([[0, 1], [1, 2]]),
            "train_mask": np.arange(4) < 2, **given_}
    return Graph.from_pyg(SimpleNamespace(**{
        name: value for name, value in data.items() if name not in names}), **{
            name: value for name, value in given_.items() if name in names})


def from_dgl(given_):
    arguments = ("weight", "parts", "features", "labels")
    ndata = {"feat": np.eye(4), "label": np.array([0, 1, 0, 1]), "train_mask": np.arange(4) < 2}
    graph = {"is_homogeneous": True, "ndata": ndata, "edata": {},
             "edges": lambda order: (np.array([0]), np.array([1])), **given_}
    return Graph.from_dgl(SimpleNamespace(**graph), **{
        name: value for name, value in given_.items() if name in arguments})


#: Constructor to the parts that can be anything.
MAKERS = {
    from_edges: ("edges", "features", "labels", "train", "validation", "test", "weights",
                 "directed"),
    from_scipy: ("adjacency", "features", "labels", "train", "test", "directed"),
    from_networkx: ("graph", "features", "labels", "train", "weight"),
    from_pyg: ("x", "y", "edge_index", "adj_t", "train_mask", "val_mask", "weight", "parts",
               "edge_weight"),
    from_dgl: ("is_homogeneous", "ndata", "edata", "edges", "weight", "parts", "features",
               "labels"),
}


def check(make, *given_):
    """There is a result, or one line that says what to do."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(*given_)
    except (GraphError, DatasetError) as error:
        text = str(error)
        assert "\n" not in text and len(text) <= 1200, text
        assert "; " in text or " must be " in text, text
    return None


@pytest.mark.parametrize("make", MAKERS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_parts_of_any_kind(make, data):
    names = data.draw(st.lists(st.sampled_from(MAKERS[make]), min_size=1, max_size=2, unique=True))
    graph = check(make, {name: data.draw(anything(), label=name) for name in names})
    if graph is None:
        return
    assert graph.edges.shape == (graph.vertices,) * 2
    assert graph.features.shape[0] == len(graph.splits) == graph.vertices
    assert np.isfinite(graph.edges.data).all()
    if scipy.sparse.issparse(graph.features):
        assert np.isfinite(graph.features.data).all()
    else:
        assert np.isfinite(graph.features).all()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("value", [*LISTS, *OTHERS, Hostile(), Unsized()],
                         ids=lambda value: str(type(value).__name__))
def test_every_part_is_checked(make, value):
    for name in MAKERS[make]:
        check(make, {name: value})


@given(anything())
@example(b"x" * 400)
@example("x" * 400)
def test_objects_of_any_kind(value):
    for make in (Graph.from_pyg, Graph.from_dgl, Graph.load):
        assert check(make, value) is None
    check(lambda: Graph.from_networkx(value, np.eye(4), [0, 1, 0, 1], train=[0]))


@given(anything())
def test_what_is_asked_of_a_graph(value):
    graph = from_edges({})
    for name in ("train", "validation", "test"):
        check(lambda part=name: graph.with_splits(**{"train": [0], part: value}))
    check(graph.among, value)
    check(graph.normalise, value)
    check(graph.normalise, "sum", value)


@given(anything(), st.sampled_from(["labels", "train", "validation", "seed"]))
def test_splits_of_any_kind(value, name):
    check(lambda: random_split(**{"labels": [0, 1, -1], name: value}))
    check(lambda: split_per_class(**{
        "labels": [0, 1, -1], "train": 1, "validation": 1, "seed": 0, name: value}))


@pytest.mark.parametrize(("part", "value", "message"), [
    ("edges", [[0, 1], [2]], "edges are ragged: row 1 is of length 1, but row 0 is of length 2; "
                             "give rows of equal lengths"),
    ("edges", [[0, 1], 2], "edges are ragged: row 1 is no list, but row 0 is of length 2"),
    ("features", [[0.5], [1], [2, 3], [4]], "features are ragged: row 2 is of length 2"),
    ("labels", [[0, 1], [0], [1, 1], [0, 0]], "labels are ragged: row 1 is of length 1"),
    ("weights", [0.5, [1], 2], "weights are ragged: row 1 is of length 1, but row 0 is no list"),
    ("train", [0, [1]], "the train split are ragged: row 1 is of length 1"),
    ("features", np.ma.masked_array(np.eye(4), mask=np.eye(4, k=1)),
     r"features has masked values, such as that at \(0, 1\); give numbers there"),
    ("labels", np.array([0, 1, 1, 0], "m8[s]"), r"type timedelta64\[s\]"),
    ("labels", None, "labels must be one integer per vertex"),
    ("directed", "no", "directed is 'no'; give True or False"),
    ("directed", None, "directed is 'None'; give True or False"),
])
def test_messages(part, value, message):
    with pytest.raises(GraphError, match=message) as caught:
        from_edges({part: value})
    assert caught.value.part in (part, "edges")
