"""Edges are compiled once for any orders of the layers."""

import itertools

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.messages import compile_messages
from hypercast.reference.models import model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from tests.host.models import SMALL

#: 20 rows a core, in strips of 16.
DIRECTED = scipy.sparse.csr_array(np.arange(1600).reshape(40, 40) % 7 % 5)


def listed(edges):
    """Names and uses of the matrices, and of their strips the first row, the load and the words."""
    return [(one.edges.name, one.edges.uses, [
        (strip.first, messages.load, [words.tolist() for words in messages.edge_sets])
        for strip, messages in one.strips]) for one in edges.matrices]


@pytest.mark.parametrize("matrices", [
    [DIRECTED] * 2, [scipy.sparse.csr_array(DIRECTED + DIRECTED.T)] * 2,
    [DIRECTED[:36], DIRECTED[:2, :36]]])
def test_what_orders_use_is_what_would_be_compiled_for_them(matrices):
    network = Network.of_widths((3, 3, 3), orders=AGGREGATE_FIRST)
    whole = CompiledEdges.of_any_order(network, matrices, 0, SMALL)
    assert whole.vertices == (40, *(matrix.shape[0] for matrix in matrices))
    for one in whole.matrices:
        rows = -(-one.edges.matrix.shape[0] // 2)  # of a core
        assert [strip.first for strip, _ in one.strips] == list(range(0, rows, 16))
    for orders in itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=2):
        ordered = network.ordered(orders)
        assert listed(whole.used_by(ordered)) == listed(
            CompiledEdges.of(ordered, matrices, 0, SMALL))


def test_loads_are_those_of_the_strips():
    """Backwards those of the transposed matrix; rows that are added stay in their core."""
    edges = CompiledEdges.of_any_order(model_network("sage", 3, (4,), 3), [DIRECTED] * 2, 7, SMALL)
    identity = 7 * scipy.sparse.eye_array(40, dtype=np.int64)
    for found, matrix in ((edges.loads(2, False), DIRECTED), (edges.loads(2, True), DIRECTED.T),
                          (edges.root_loads(1, False), identity)):
        assert found == [compile_messages(matrix, SMALL, first_row=first, rows=rows).load
                         for first, rows in ((0, 16), (16, 4))]


def test_no_rows_are_added_where_the_network_adds_none():
    edges = CompiledEdges.of_any_order(
        Network.of_widths((3, 3)), [scipy.sparse.coo_array(DIRECTED)], 7, SMALL)
    assert [one.edges.name for one in edges.matrices] == ["A", "A^T"]
