# SPDX-License-Identifier: BSD-2-Clause
"""Edges that are there several times, as each source means them."""

import warnings
from fractions import Fraction
from types import SimpleNamespace

import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs import parallel_edges
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_error import GraphError, GraphWarning
from hypercast.host.graphs.parallel_edges import Parallel, merged_edges

ULP, ULP_32 = 2.0**-52, 2.0**-23


def graph_of(make, vertices, *arguments, **changes):
    return make(*arguments, np.eye(vertices), np.zeros(vertices, int), train=[0], **changes)


def dense(graph):
    return graph.edges.toarray().tolist()


@st.composite
def entries(draw, least=1):
    """Vertices, and rows, columns and small whole weights of entries, most of them repeated."""
    vertices = draw(st.integers(1, 5))
    vertex = st.integers(0, vertices - 1)
    places = draw(st.lists(st.tuples(vertex, vertex, st.integers(-2, 3)), min_size=least,
                           max_size=15))
    return vertices, np.array(places).reshape(-1, 3)


# --- Matrices -----------------------------------------------------------------------------------


@given(entries(), st.sampled_from(["?", "i1", "u1", "i8", "f2", "f4", "f8", "g", ">f8", ">i4"]),
       st.sampled_from(["coo", "csr", "csc", "lil", "dok", "bsr", "array"]))
def test_a_matrix_is_what_scipy_says_it_is(case, dtype, form):
    vertices, (rows, columns, values) = case[0], case[1].T
    if dtype == "f2" or not np.dtype(dtype).isnative:  # of which SciPy has none
        form, type_of_parts = "array", "f4"
    else:
        type_of_parts = dtype
    matrix = scipy.sparse.coo_array((values.astype(type_of_parts), (rows, columns)),
                                    shape=(vertices, vertices))
    expected = matrix.toarray().astype(float)
    matrix = matrix.toarray().astype(dtype) if form == "array" else matrix.asformat(form)
    before = matrix.copy()
    graph = graph_of(Graph.from_scipy, vertices, matrix, directed=True)
    assert np.array_equal(graph.edges.toarray(), expected)
    assert graph.edges.nnz == np.count_nonzero(expected)  # a sum of 0 is no edge
    assert (matrix != before).sum() == 0


def test_a_matrix_that_is_not_canonical():
    """As it comes from compressed parts: repeated and unsorted columns, and zeros."""
    matrix = scipy.sparse.csr_array(
        (np.array([1.0, 2, 3, 0, 5, -5]), np.array([2, 1, 1, 0, 2, 2]), np.array([0, 4, 6, 6])))
    expected = [[0, 5, 1], [0, 0, 0], [0, 0, 0]]
    assert dense(graph_of(Graph.from_scipy, 3, matrix, directed=True)) == expected
    assert matrix.nnz == 6  # what was given is as it was


def test_parts_of_entries_of_an_undirected_matrix_add_up_in_each_direction():
    matrix = scipy.sparse.coo_array(
        ([1.0, 2, 3, 4], ([0, 0, 1, 1], [1, 1, 0, 2])), shape=(3, 3))
    assert dense(graph_of(Graph.from_scipy, 3, matrix)) == [[0, 3, 0], [3, 0, 4], [0, 4, 0]]


def test_features_in_several_parts_add_up():
    features = scipy.sparse.coo_array(([1, 2, 200, 100], ([0, 0, 1, 1], [1, 1, 0, 0])),
                                      shape=(2, 2), dtype=np.uint8)
    graph = Graph.from_edges([[0, 1]], features, [0, 1], train=[0])
    assert graph.features.toarray().tolist() == features.toarray().tolist()


@pytest.mark.parametrize(("matrix", "message"), [
    ([[0, 1], [1, 0]], "the adjacency matrix is a list; give an array, or scipy.*from_edges takes"),
    ([[0, 1], [1]], "the adjacency matrix is a list"),
    (((0, 1), (1, 0)), "the adjacency matrix is a tuple"),
    (None, r"the adjacency matrix has shape \(\), but there are 2 labels"),
    ({"a": 1}, r"the adjacency matrix has shape \(\)"),
    ("x", r"the adjacency matrix has shape \(\)"),
    (np.ones(4), r"the adjacency matrix has shape \(4,\)"),
    (np.eye(2) * 1j, "must be of real numbers, not of type complex128; give one weight"),
    (np.array([["a", "b"], ["c", "d"]]), "must be of real numbers, not of type <U1"),
    (np.array([[0, np.nan], [0, 0]]), r"weight of edge 0 is nan; .*leads from vertex 1 to 0"),
    (scipy.sparse.coo_array(([np.inf], ([1], [0])), shape=(2, 2)), "weight of edge 0 is inf"),
])
def test_no_matrix(matrix, message):
    with pytest.raises(GraphError, match=message) as caught:
        graph_of(Graph.from_scipy, 2, matrix)
    assert caught.value.part == "edges"


# --- networkx -----------------------------------------------------------------------------------


@given(entries(), st.sampled_from([networkx.Graph, networkx.DiGraph, networkx.MultiGraph,
                                   networkx.MultiDiGraph]), st.booleans())
def test_networkx_is_its_own_adjacency_matrix(case, kind, weighted):
    vertices, edges = case
    graph = kind()
    graph.add_nodes_from(range(vertices))
    for source, target, weight in edges.tolist():
        graph.add_edge(source, target, **({"w": weight} if weight else {}))  # 1 if it has none
    names = networkx.get_edge_attributes(graph, "w")
    weight = "w" if weighted and names else None
    # networkx has the source of an edge in the row.
    expected = networkx.to_numpy_array(graph, weight=weight).T
    found = graph_of(Graph.from_networkx, vertices, graph, weight=weight)
    assert np.array_equal(found.edges.toarray(), expected)


def test_a_weight_that_no_edge_has():
    graph = networkx.path_graph(3)
    with pytest.raises(GraphError, match="no edge has an attribute 'wieght'; name the one"):
        graph_of(Graph.from_networkx, 3, graph, weight="wieght")
    graph[0][1]["wieght"] = 2.0
    found = graph_of(Graph.from_networkx, 3, graph, weight="wieght")
    assert dense(found) == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]


# --- PyTorch Geometric and DGL ------------------------------------------------------------------


def of_pyg(edges, weights, vertices):
    data = SimpleNamespace(x=np.eye(vertices), y=np.zeros(vertices, int), edge_index=edges.T,
                           train_mask=np.arange(vertices) == 0, edge_weight=weights)
    return Graph.from_pyg(data, weight=None if weights is None else "edge_weight")


def of_dgl(edges, weights, vertices):
    graph = SimpleNamespace(
        is_homogeneous=True, edges=lambda order: tuple(edges.T),
        ndata={"feat": np.eye(vertices), "label": np.zeros(vertices, int),
               "train_mask": np.arange(vertices) == 0}, edata={"w": weights})
    return Graph.from_dgl(graph, weight=None if weights is None else "w")


@given(entries(), st.sampled_from([of_pyg, of_dgl]), st.booleans())
def test_messages_along_parallel_edges_add_up(case, make, weighted):
    vertices, places = case
    edges, weights = places[:, :2], places[:, 2] / 4.0
    expected = np.zeros((vertices, vertices))
    np.add.at(expected, (edges[:, 1], edges[:, 0]), weights if weighted else 1)
    found = make(edges, weights if weighted else None, vertices)
    assert np.array_equal(found.edges.toarray(), expected)


def test_sums_do_not_depend_on_the_order_of_edges():
    random = np.random.default_rng(0)
    edges, weights = random.integers(0, 3, (60, 2)), random.normal(size=60)
    found = [of_pyg(edges[order], weights[order], 3).edges.toarray()
             for order in (random.permutation(60) for _ in range(10))]
    assert all(np.array_equal(one, found[0]) for one in found)


def test_edges_without_weights_that_are_there_once_need_no_sums(monkeypatch):
    """Nor are weights of their two directions compared."""
    edges = [[0, 1], [2, 1], [1, 3]]
    found = [merged_edges(edges, None, 4, False, Parallel.MULTIGRAPH).toarray()]
    monkeypatch.setattr(parallel_edges, "_agree", None)
    found += [merged_edges(edges, None, 4, False, kind).toarray() for kind in Parallel]
    assert all(np.array_equal(one, found[0]) for one in found) and found[0].sum() == 6


def test_several_loops_are_warned_of():
    """GCNConv of PyTorch Geometric takes one of them, its other convolutions their sum."""
    loops = np.array([[0, 0], [1, 1], [1, 1]])
    with pytest.warns(GraphWarning, match="vertex 1 has several loops, whose weights add up"):
        assert of_pyg(loops, None, 2).edges.toarray().tolist() == [[1, 0], [0, 2]]
    with warnings.catch_warnings(action="error"):
        of_pyg(loops[:2], None, 2)


def test_edges_of_the_real_pyg():
    """Convolutions of PyTorch Geometric on edges that are there several times."""
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric")
    random = np.random.default_rng(1)
    edges = random.integers(0, 5, (40, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    weights = random.random(len(edges))
    ends, strengths = torch.tensor(edges.T), torch.tensor(weights)
    features = random.random((5, 3))
    x = torch.tensor(features)
    for kind, weighted in (("symmetric", True), ("symmetric", False), ("neighbours", False),
                           ("sum", False)):
        found = of_pyg(edges, weights if weighted else None, 5).normalise(kind) @ features
        if kind == "symmetric":
            layer = pyg.nn.GCNConv(3, 3, bias=False).double()
            layer.lin.weight.data = torch.eye(3, dtype=torch.double)
            expected = layer(x, ends, strengths if weighted else None)
        elif kind == "neighbours":
            layer = pyg.nn.SAGEConv(3, 3, root_weight=False, bias=False).double()
            layer.lin_l.weight.data = torch.eye(3, dtype=torch.double)
            expected = layer(x, ends)
        else:
            expected = pyg.nn.GINConv(torch.nn.Identity())(x, ends)
        np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-6)


# --- Lists --------------------------------------------------------------------------------------


def test_what_is_listed_twice_is_merged_with_a_warning():
    edges = [[0, 1], [2, 1], [0, 1], [0, 1]]
    for weights in (None, [0.5, 2.0, 0.5, 0.5]):
        with pytest.warns(GraphWarning, match="2 of 4 edges are there before, such as that from "
                                              "vertex 0 to 1; each is taken once"):
            graph = graph_of(Graph.from_edges, 3, edges, weights=weights, directed=True)
        assert dense(graph)[1] == ([0.5, 0, 2] if weights else [1, 0, 1])
    with warnings.catch_warnings(action="error"):  # both directions of an edge are no repetition
        graph_of(Graph.from_edges, 3, [[0, 1], [1, 0], [2, 2]], weights=[3, 3, 4])
        graph_of(Graph.from_edges, 3, [[0, 1], [1, 0], [2, 2]])


@given(entries(), st.booleans())
def test_a_set_of_edges_has_each_once(case, directed):
    vertices, edges = case[0], case[1][:, :2]
    with warnings.catch_warnings(action="error"):
        found = merged_edges(edges, None, vertices, directed, Parallel.SET).toarray()
    expected = np.zeros((vertices, vertices))
    expected[edges[:, 1], edges[:, 0]] = 1
    if not directed:
        expected[edges[:, 0], edges[:, 1]] = 1
    assert np.array_equal(found, expected)


@given(entries(least=2), st.booleans())
def test_weights_that_contradict_each_other(case, directed):
    """Whether a list is refused, and what is advised: directions help only where they differ."""
    vertices, places = case
    edges, weights = places[:, :2], places[:, 2]
    given_ = {}  # of each pair, and in each direction
    for (source, target), weight in zip(edges.tolist(), weights.tolist(), strict=True):
        pair = given_.setdefault(frozenset((source, target)), {})
        pair.setdefault((source, target), set()).add(weight)
    twice = any(len(one) > 1 for pair in given_.values() for one in pair.values())
    differ = any(len(set.union(*pair.values())) > 1 and all(len(one) == 1 for one in pair.values())
                 for pair in given_.values())
    conflict = twice or (not directed and differ)
    try:
        found = graph_of(Graph.from_edges, vertices, edges, weights=weights, directed=directed)
    except GraphError as error:
        assert conflict
        assert "give it one, or" in str(error)
        if directed or not differ:
            assert "declare the graph directed" not in str(error)
        return
    assert not conflict
    expected = np.zeros((vertices, vertices))
    expected[edges[:, 1], edges[:, 0]] = weights
    if not directed:
        expected[edges[:, 0], edges[:, 1]] = weights
    assert np.array_equal(found.edges.toarray(), expected)


@pytest.mark.parametrize(("edges", "weights", "directed", "advice"), [
    ([[0, 1], [0, 1]], [1, 2], True, r"or a matrix, whose entries add up \(Graph\.from_scipy\)"),
    ([[0, 1], [0, 1]], [1, 2], False, "or a matrix, whose entries add up"),
    ([[0, 1], [1, 0], [0, 1]], [1, 1, 2], False, "or a matrix, whose entries add up"),
    ([[0, 0], [0, 0]], [1, 2], False, "or a matrix, whose entries add up"),
    ([[0, 1], [1, 0]], [1, 2], False, "if they are those of its two directions, declare the graph"),
])
def test_advice(edges, weights, directed, advice):
    with pytest.raises(GraphError, match=rf"has weights 2\.0 and 1\.0; give it one, .*{advice}"):
        graph_of(Graph.from_edges, 2, edges, weights=weights, directed=directed)


# --- Weights that are almost the same -----------------------------------------------------------


def test_weights_of_both_directions_may_differ_by_roundings():
    graph = graph_of(Graph.from_edges, 2, [[0, 1], [1, 0]], weights=[0.1 * 3, 0.3])
    assert dense(graph) == [[0, 0.1 * 3], [0.1 * 3, 0]]


@pytest.mark.parametrize("dtype, unit, most", [
    (np.float64, ULP, 64), (np.float32, ULP_32, 64), (np.float16, 2.0**-10, 2)])
def test_tolerance(dtype, unit, most):
    """The larger one is one, so that units are its last place's; below, the next larger number."""
    for times, same in ((1, True), (most, True), (most + 1, False)):
        for sign in (1, -1):
            weights = np.array([1, 1 - times * unit], dtype=dtype) * dtype(sign)
            if same:
                graph = graph_of(Graph.from_edges, 2, [[0, 1], [1, 0]], weights=weights)
                assert dense(graph) == [[0, max(weights)], [max(weights), 0]]
                continue
            with pytest.raises(GraphError, match="declare the graph directed"):
                graph_of(Graph.from_edges, 2, [[0, 1], [1, 0]], weights=weights)


def test_zero_is_near_nothing():
    for other in (5e-324, -5e-324):
        with pytest.raises(GraphError, match="declare the graph directed"):
            graph_of(Graph.from_edges, 2, [[0, 1], [1, 0]], weights=[0.0, other])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_one_that_is_taken_does_not_depend_on_the_order_of_edges(dtype):
    random = np.random.default_rng(2)
    sources, targets = np.triu_indices(20)
    weights = random.normal(size=len(sources)).astype(dtype)
    other = (weights * (1 + random.integers(-9, 9, len(weights))
                        * np.finfo(dtype).eps)).astype(dtype)
    edges = np.concatenate([np.stack([sources, targets], 1), np.stack([targets, sources], 1)])
    both = np.concatenate([weights, other])
    found = []
    for order in (random.permutation(len(edges)) for _ in range(4)):
        graph = graph_of(Graph.from_edges, 20, edges[order], weights=both[order])
        found.append(graph.edges.toarray())
    assert all(np.array_equal(one, found[0]) for one in found)
    assert np.array_equal(found[0], found[0].T)
    expected = np.zeros((20, 20))
    expected[targets, sources] = np.maximum(weights, other)
    assert np.array_equal(np.triu(found[0].T), np.triu(expected.T))


def almost_symmetric():
    """Matrices that should be symmetric, as people compute them."""
    random = np.random.default_rng(3)
    values = random.normal(size=(40, 60))
    yield "correlations", abs(np.corrcoef(values))
    yield "correlations of float32", abs(np.corrcoef(values, dtype=np.float32))
    lengths = np.linalg.norm(values, axis=1)
    yield "cosines", (values @ values.T) / lengths[:, None] / lengths[None, :]
    drawn = scipy.sparse.random_array((40, 40), density=0.2, rng=random)
    drawn = drawn + drawn.T
    yield "a normalised Laplacian", scipy.sparse.csgraph.laplacian(drawn, normed=True)
    roots = scipy.sparse.diags_array(1 / np.sqrt(drawn.sum(axis=1) + 1))
    yield "normalised twice", (roots @ drawn) @ roots
    yield "in float32", ((roots @ drawn) @ roots).astype(np.float32) * np.float32(1 / 3)


def test_matrices_that_are_computed_are_not_symmetric():
    differ = [abs(matrix - matrix.T).max() > 0 for _, matrix in almost_symmetric()]
    assert sum(differ) >= len(differ) / 2


@pytest.mark.parametrize("name, matrix", [*almost_symmetric()])
def test_matrices_that_are_computed(name, matrix):
    graph = graph_of(Graph.from_scipy, 40, matrix)
    found = graph.edges.toarray()
    assert np.array_equal(found, found.T)
    given_ = matrix.toarray() if scipy.sparse.issparse(matrix) else matrix
    np.testing.assert_array_equal(found, np.maximum(given_, given_.T))


# --- What sums may become -----------------------------------------------------------------------

def multigraph(*weights):
    graph = networkx.MultiGraph([(0, 1, {"weight": weight}) for weight in weights])
    return graph_of(Graph.from_networkx, 2, graph, weight="weight")


def test_sums_beyond_the_largest_number():
    with pytest.raises(GraphError, match="from vertex 0 to 1 add up to more than the largest"):
        multigraph(1.5e308, 1.5e308)


def test_wide_floats_add_up():
    assert dense(multigraph(np.longdouble(1), np.longdouble(2))) == [[0, 3], [3, 0]]


@pytest.mark.parametrize(("weight", "kind"), [("2", "str"), (Fraction(1, 2), "Fraction")])
def test_a_weight_that_is_no_number_is_named(weight, kind):
    with pytest.raises(GraphError, match=rf"of the edge from 0 to 1 is '.*', of type {kind}"):
        multigraph(1.0, weight)


@pytest.mark.parametrize("name", [False, [], 3])
def test_names_of_weights_that_are_none(name):
    with pytest.raises(GraphError, match=r"weight is .*; give the name of an attribute of edges"):
        graph_of(Graph.from_networkx, 2, networkx.path_graph(2), weight=name)
