# SPDX-License-Identifier: BSD-2-Clause
import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.graph import Graph, GraphError
from hypercast.host.graphs.graph_checks import checked_labels
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.training.prepare import loss_of, prepare
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import Split


@st.composite
def edge_lists(draw):
    """Vertices, and edges with duplicates, both directions, loops and isolated vertices."""
    vertices = draw(st.integers(1, 12))
    vertex = st.integers(0, vertices - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=40))
    return vertices, edges + draw(st.lists(st.sampled_from(edges), max_size=5) if edges
                                  else st.just([]))


def make(edges, vertices=4, **changes):
    arguments = {"features": np.eye(vertices), "labels": np.zeros(vertices, int), "train": [0]}
    return Graph.from_edges(np.array(edges), **{**arguments, **changes})


def dense(vertices, edges, directed=False):
    matrix = np.zeros((vertices, vertices))
    for source, target in edges:
        matrix[target, source] = 1
        if not directed:
            matrix[source, target] = 1
    return matrix


# --- Edges and normalisation --------------------------------------------------------------------


@given(edge_lists(), st.booleans())
def test_edges_are_merged(case, directed):
    vertices, edges = case
    graph = make(edges, vertices, directed=directed)
    expected = dense(vertices, edges, directed)
    assert np.array_equal(graph.edges.todense(), expected)
    assert graph.edges.nnz == np.count_nonzero(expected)


@given(edge_lists())
def test_symmetric_normalisation(case):
    vertices, edges = case
    matrix = dense(vertices, edges)
    np.fill_diagonal(matrix, 1)
    root = np.diag(matrix.sum(axis=1) ** -0.5)
    found = make(edges, vertices).normalise("symmetric")
    np.testing.assert_allclose(found.todense(), root @ matrix @ root, atol=1e-15)


@given(edge_lists())
def test_mean_normalisation(case):
    vertices, edges = case
    matrix = dense(vertices, edges, directed=True)
    np.fill_diagonal(matrix, 1)
    found = make(edges, vertices, directed=True).normalise("mean")
    np.testing.assert_allclose(
        found.todense(), matrix / matrix.sum(axis=1, keepdims=True), atol=1e-15)


@st.composite
def weighted_loops(draw):
    """Vertices, edges among them, loops included, each once, and their weights above 0."""
    vertices = draw(st.integers(1, 8))
    vertex = st.integers(0, vertices - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=20, unique=True))
    edges += [(loop, loop) for loop in draw(st.sets(vertex)) if (loop, loop) not in edges]
    weights = draw(st.lists(st.floats(0.125, 8), min_size=len(edges), max_size=len(edges)))
    return vertices, edges, weights


@given(weighted_loops(), st.sampled_from(["symmetric", "mean"]))
def test_loops_keep_their_weights(case, kind):
    vertices, edges, weights = case
    matrix = np.zeros((vertices, vertices))
    for (source, target), weight in zip(edges, weights, strict=True):
        matrix[target, source] = weight
    for vertex in range(vertices):
        matrix[vertex, vertex] = matrix[vertex, vertex] or 1.0
    left, right = (-1.0, 0.0) if kind == "mean" else (-0.5, -0.5)
    sums = matrix.sum(axis=1)
    graph = make(edges, vertices, weights=weights, directed=True)
    np.testing.assert_allclose(graph.normalise(kind).toarray(),
                               np.diag(sums**left) @ matrix @ np.diag(sums**right), rtol=1e-12)


def test_a_loop_of_weight_3():
    """An edge of 1 besides: 3 / 4, where a loop of 1 would give 1 / 2."""
    graph = make([[0, 0], [1, 0]], 2, weights=[3.0, 1.0], directed=True)
    for kind in ("symmetric", "mean"):
        assert graph.normalise(kind).toarray()[0, 0] == pytest.approx(0.75)
    assert graph.normalise("given").toarray()[0].tolist() == [3, 1]
    assert graph.normalise("neighbours").toarray()[0].tolist() == [0.75, 0.25]
    assert graph.normalise("sum").toarray()[0].tolist() == [4, 1]


def test_a_loop_of_weight_0_is_a_loop():
    graph = make([[0, 0], [1, 0]], 2, weights=[0.0, 2.0], directed=True)
    assert graph.normalise("mean").toarray().tolist() == [[0, 1], [0, 1]]
    alone = make([[0, 0], [0, 1]], 2, weights=[0.0, 1.0], directed=True)
    assert alone.normalise("mean").toarray().tolist() == [[0, 0], [0.5, 0.5]]
    np.testing.assert_allclose(alone.normalise("symmetric").toarray(), [[0, 0], [0, 0.5]])


@given(weighted_loops())
def test_loops_of_the_real_pyg(case):
    torch = pytest.importorskip("torch")
    conv = pytest.importorskip("torch_geometric.nn.conv.gcn_conv")
    vertices, edges, weights = case
    if not edges:
        return
    weights = [weight * (number % 3 > 0) for number, weight in enumerate(weights)]
    ends, values = conv.gcn_norm(torch.tensor(edges).T, torch.tensor(weights, dtype=torch.double),
                                 vertices)
    expected = np.zeros((vertices, vertices))
    np.add.at(expected, (ends[1].numpy(), ends[0].numpy()), values.numpy())
    graph = make(edges, vertices, weights=weights, directed=True)
    np.testing.assert_allclose(graph.normalise("symmetric").toarray(), expected, rtol=1e-9)


def test_given_weights():
    graph = make([[0, 1], [1, 1]], weights=[0.5, -2.0], directed=True)
    assert graph.normalise("given").todense().tolist() == [
        [0, 0, 0, 0], [0.5, -2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_means_over_neighbours():
    """Rows of GraphSAGE's means without edges stay zero, and a loop is an edge like others."""
    graph = make([[0, 1], [2, 1], [3, 3], [1, 3]], directed=True)
    assert graph.normalise("neighbours").todense().tolist() == [
        [0, 0, 0, 0], [0.5, 0, 0.5, 0], [0, 0, 0, 0], [0, 0.5, 0, 0.5]]
    weighted = make([[0, 1], [2, 1]], weights=[1.0, 3.0], directed=True)
    assert weighted.normalise("neighbours").todense()[1].tolist() == [0.25, 0, 0.75, 0]


def test_means_need_a_positive_sum():
    graph = make([[0, 1], [2, 1]], weights=[1.0, -1.0], directed=True)
    with pytest.raises(GraphError, match=r"edge weights of vertex 1 sum to 0\.0; normalise"):
        graph.normalise("neighbours")


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_sums(epsilon):
    """GIN adds a vertex' own row, times 1 + epsilon, to the sum of its neighbours' rows."""
    graph = make([[0, 1], [2, 2]], directed=True)
    own = 1 + epsilon
    assert graph.normalise("sum", epsilon).todense().tolist() == [
        [own, 0, 0, 0], [1, own, 0, 0], [0, 0, 1 + own, 0], [0, 0, 0, own]]


def test_isolated_vertex_keeps_itself():
    for kind in ("symmetric", "mean"):
        assert make([[0, 1]]).normalise(kind)[[3]].todense().tolist() == [[0, 0, 0, 1]]


def test_no_edges():
    assert make([]).normalise("symmetric").todense().tolist() == np.eye(4).tolist()


def test_duplicates_with_equal_weights():
    assert make([[0, 1], [1, 0]], weights=[0.5, 0.5]).edges[0, 1] == 0.5


# --- Ranks --------------------------------------------------------------------------------------


# --- Other constructors -------------------------------------------------------------------------


def test_from_scipy_is_from_edges():
    entries = scipy.sparse.coo_array(([2.0, 3.0, 0.0], ([1, 2, 3], [0, 0, 0])), shape=(4, 4))
    graph = Graph.from_scipy(entries, np.eye(4), [0, 1, 0, 1], train=[0], directed=True)
    assert graph.edges.todense().tolist() == entries.todense().tolist()
    assert graph.edges.nnz == 2
    undirected = Graph.from_scipy(entries, np.eye(4), [0, 1, 0, 1], train=[0])
    assert np.array_equal(undirected.edges.todense(), entries.todense() + entries.todense().T)


def test_from_networkx():
    club = networkx.Graph([("b", "a"), ("b", "c")])
    club["b"]["c"]["strength"] = 0.25
    graph = Graph.from_networkx(club, np.eye(3), [0, 1, 1], train=[0], weight="strength")
    assert graph.edges.todense().tolist() == [[0, 1, 0.25], [1, 0, 0], [0.25, 0, 0]]


def test_from_networkx_directed():
    graph = Graph.from_networkx(networkx.DiGraph([(0, 1)]), np.eye(2), [0, 1], train=[0])
    assert graph.edges.todense().tolist() == [[0, 0], [1, 0]]


def test_splits():
    graph = make([], train=[0], validation=np.array([False, True, False, False]), test=[3])
    assert graph.splits.tolist() == [Split.TRAIN, Split.VALIDATION, Split.NONE, Split.TEST]
    assert (graph.vertices, graph.classes) == (4, 1)


@pytest.mark.parametrize("sparse", [False, True])
def test_normalised_features(sparse):
    features = np.array([[1.0, 3.0], [0, 0], [-1, 1], [0, 5]])
    graph = make([], features=scipy.sparse.csr_array(features) if sparse else features)
    found = graph.with_normalised_features().features
    assert scipy.sparse.issparse(found) == sparse
    found = found.todense() if sparse else found
    assert found.tolist() == [[0.25, 0.75], [0, 0], [-0.5, 0.5], [0, 1]]


# --- Refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("edges", "changes", "message"), [
    ([[0, 1], [0, 4]], {}, "edge 1 leads from vertex 0 to 4, but vertices are 0 to 3"),
    ([[-1, 1]], {}, "edge 0 leads from vertex -1 to 1"),
    (np.zeros((3, 0), int), {}, r"shape \(edges, 2\), not of shape \(3, 0\)"),
    ([[0, 1, 2]], {}, r"shape \(edges, 2\), not of shape \(1, 3\)"),
    ([[0.5, 1]], {}, "type float64"),
    ([[0, 1]], {"weights": [np.nan]}, "weight of edge 0 is nan; replace it"),
    ([[0, 1]], {"weights": ["x"]}, "weights must be real numbers, not of type <U1"),
    ([[0, 1]], {"weights": [{}]}, "weights must be real numbers, not of type object"),
    ([[0, 1]], {"weights": [1, 2]}, r"shape \(2,\), but there are 1 edges; give one"),
    ([[0, 1], [1, 0]], {"weights": [1, 2]},
     r"edge from vertex 1 to 0 has weights 2\.0 and 1\.0; give it one, or, "),
    ([], {"features": np.eye(3)}, "3 rows of features, but 4 labels"),
    ([], {"features": np.zeros((4, 0))}, r"features have shape \(4, 0\)"),
    ([], {"features": np.zeros((0, 4)), "labels": []}, "at least one vertex"),
    ([], {"features": scipy.sparse.coo_array(([1.0], ([0], [0])), shape=(4, 2**63 - 1))},
     "features have 9223372036854775807 columns, but there are weights for 2147483647 at most"),
    ([], {"features": np.diag([1, 1, np.inf, 1])}, "feature 2 of vertex 2 is inf; replace it"),
    ([], {"features": scipy.sparse.csr_array(np.diag([1, np.nan, 1, 1]))},
     "feature 1 of vertex 1 is nan"),
    ([], {"labels": [0, 0, -2, 0]}, "label of vertex 2 is -2; use 0 and up for classes"),
    ([], {"labels": [0.0, 1, 0.5, 3]}, r"label of vertex 2 is 0\.5, but classes are whole"),
    ([], {"labels": ["a", "b", "a", "b"]}, r"type <U1; numpy\.unique"),
    ([], {"features": np.eye(4) * 1j}, "real numbers, not of type complex128"),
    ([], {"features": {"a": [1.0]}}, "real numbers, not of type object"),
    ([], {"train": [0, 1, 1, 0]}, "names vertex 0 2 times; .* booleans if it is a mask"),
    ([[0, 1]], {"weights": [[1.0]]}, r"weights have shape \(1, 1\), but there are 1 edges"),
    ([], {"test": [0, 2]}, "vertex 0 is in the train and in the test split; leave it in one"),
    ([], {"validation": [4]}, "the validation split names vertex 4, but vertices are 0 to 3"),
    ([], {"train": []}, "the train split is empty; name at least one vertex"),
    ([], {"train": [True, False]}, "train split has 2 booleans for 4 vertices"),
    ([], {"train": [0.5]}, r"train split is of shape \(1,\) and type float64"),
    ([], {"labels": [0, -1, 0, 0], "test": [1]}, "vertex 1 of the test split has no label"),
])
def test_refusals(edges, changes, message):
    with pytest.raises(GraphError, match=message):
        make(edges, **changes)


def test_adjacency_must_fit():
    with pytest.raises(GraphError, match=r"shape \(3, 3\), but there are 4 labels"):
        Graph.from_scipy(scipy.sparse.csr_array((3, 3)), np.eye(4), [0] * 4, train=[0])


def test_networkx_labels_must_fit():
    with pytest.raises(GraphError, match="has 5 vertices, but there are 4 labels"):
        Graph.from_networkx(networkx.path_graph(5), np.eye(4), [0] * 4, train=[0])


def test_weights_must_have_a_positive_sum():
    graph = make([[0, 1]], weights=[-1.5])
    with pytest.raises(GraphError, match=r"weights of vertex 0 and its loop sum to -0\.5"):
        graph.normalise("symmetric")


def test_unknown_normalisation():
    with pytest.raises(GraphError, match="not 'max'"):
        make([]).normalise("max")


@pytest.mark.parametrize(("labels", "expected"), [
    ([[2], [0], [1], [1]], [2, 0, 1, 1]),
    ([[2.0], [-1.0], [0.0], [1.0]], [2, -1, 0, 1]),
    ([True, False, True, True], [1, 0, 1, 1]),
    (scipy.sparse.csr_array([[0], [1], [0], [3]]), [0, 1, 0, 3]),
])
def test_classes_in_other_forms(labels, expected):
    graph = make([], labels=labels)
    assert not graph.multi_label
    assert graph.labels.tolist() == expected


# --- Several labels per vertex ------------------------------------------------------------------


@pytest.mark.parametrize("labels", [
    [[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0]],
    [[False, True, False], [True, True, False], [False] * 3, [True, False, False]],
    [[0.0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0]],
])
def test_multi_label(labels):
    graph = make([[0, 1]], labels=labels, train=[0, 2], test=np.array([0, 1, 0, 0], bool))
    assert graph.multi_label and graph.labels.dtype == bool
    assert (graph.vertices, graph.classes) == (4, 3)
    assert graph.splits.tolist() == [Split.TRAIN, Split.TEST, Split.TRAIN, Split.NONE]
    assert graph.permute([3, 2, 1, 0]).labels.tolist() == np.array(labels, bool)[::-1].tolist()


@pytest.mark.parametrize(("labels", "message"), [
    ([[0, 1], [0, 2], [0, 0], [0, 0]], "label 1 of vertex 1 is 2; use 1 for the classes it has"),
    ([[0, np.nan], [0, 1], [0, 0], [0, 0]], "label 1 of vertex 0 is nan"),
    ([["a", "b"]] * 4, "must be 0 and 1, not of type <U1"),
    (np.zeros((4, 0)), "labels have no columns"),
    (np.zeros((4, 1, 1), int), r"shape \(4, 1, 1\)"),
])
def test_multi_label_refusals(labels, message):
    with pytest.raises(GraphError, match=message):
        make([], labels=labels)


def test_several_labels_need_their_loss():
    graph = make([], labels=np.eye(4, 3))
    network = Network.of_widths([4, 3])
    with pytest.raises(ValueError, match=r"cross_entropy takes one class per vertex, not labels of "
                       r"shape \(4, 3\); choose the other loss"):
        prepare(graph, network, Recipe())
    assert prepare(graph, network, Recipe(loss=loss_of(graph))).sample.labels.tolist() == [
        row.tolist() for row in graph.permute(rank_order(graph)).labels]


# --- Other splits, and parts of graphs ----------------------------------------------------------


def test_with_splits():
    graph = make([[0, 1]], validation=[1]).with_splits(train=[3], test=[0])
    assert graph.splits.tolist() == [Split.TEST, Split.NONE, Split.NONE, Split.TRAIN]
    with pytest.raises(GraphError, match="the train split is empty"):
        graph.with_splits(train=[])


def test_among():
    graph = make([[0, 1], [1, 2], [3, 0]], weights=[1, 2, 3], labels=[0, 1, 2, 3], directed=True)
    part = graph.among([3, 0, 1])
    assert part.edges.todense().tolist() == [[0, 0, 0], [3, 0, 0], [0, 1, 0]]
    assert part.features.tolist() == np.eye(4)[[3, 0, 1]].tolist()
    assert part.labels.tolist() == [3, 0, 1]
    assert part.splits.tolist() == [Split.NONE, Split.TRAIN, Split.NONE]


@pytest.mark.parametrize("kind", [int, float, np.uint16])
def test_the_largest_label_is_what_a_chip_can_count_to(kind):
    assert checked_labels(np.array([8191, 0], kind)).tolist() == [8191, 0]
    with pytest.raises(GraphError, match=r"label of vertex 1 is 8192(\.0)?, .* up to 8191; "):
        checked_labels(np.array([0, 8192], kind))


def test_labels_without_a_class():
    assert checked_labels(np.array([[-1.0], [3.0]])).tolist() == [-1, 3]
    assert checked_labels(np.array([True, False])).tolist() == [1, 0]
    assert checked_labels(np.array([[1, 0]])).tolist() == [[True, False]]


def path_graph():
    edges = [(vertex, vertex + 1) for vertex in range(5)]
    return Graph.from_edges(edges, np.eye(6), [0, 1] * 3, train=[0])


@pytest.mark.parametrize(("order", "message"), [
    ([0] * 6, "the order names vertex 0 6 times"), ([0, 1], "the order has 2 of 6 vertices"),
    (np.arange(6.0), "the order is of shape"), ([0, 1, 2, 3, 4, 6], "names vertex 6")])
def test_orders_that_are_none(order, message):
    with pytest.raises(GraphError, match=message):
        path_graph().permute(order)


def test_a_part_without_vertices():
    with pytest.raises(GraphError, match="the part is empty; name at least one vertex"):
        path_graph().among([])
