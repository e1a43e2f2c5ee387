# SPDX-License-Identifier: BSD-2-Clause
"""Edges are compiled once for any orders of the layers."""

import itertools

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler import compiled_edges
from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.messages import compile_messages
from hypercast.host.compiler.vertices import Strip, strips_of
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
        ordered = network.with_orders(orders)
        assert listed(whole.select(ordered)) == listed(
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


def test_matrices_are_those_given():
    """Unless they have another form; layers that share one still do."""
    matrices = [DIRECTED, DIRECTED, scipy.sparse.csr_array(DIRECTED.T)]
    network = Network.of_widths((3, 3, 3, 3))
    edges = CompiledEdges.of_any_order(network, matrices, 0, SMALL)
    assert all(one is other for one, other in zip(edges.edges, matrices, strict=True))
    other = scipy.sparse.coo_array(DIRECTED)
    first, second, third = CompiledEdges.of_any_order(
        network, [other, other, DIRECTED], 0, SMALL).edges
    assert first is second and third is DIRECTED and (first != DIRECTED).nnz == 0
    assert isinstance(first, scipy.sparse.csr_array)


def test_strips_may_be_of_more_rows():
    """As in a training on samples, of which this one has few rows."""
    network, matrix = Network.of_widths((3, 3)), DIRECTED[:3, :5]
    strips = [(Strip(first=0, rows=9),), (Strip(first=0, rows=4), Strip(first=4, rows=2))]
    edges = CompiledEdges.of(network, [matrix], 0, SMALL, strips=strips, symmetric=False)
    assert edges.vertices == (5, 3)
    found = {one.edges.name: tuple(strip for strip, _ in one.strips) for one in edges.matrices}
    assert found == {"A": strips[1], "A^T": strips[0]}
    for one in edges.matrices:
        assert [messages.load for _, messages in one.strips] == [
            compile_messages(one.edges.matrix, SMALL, first_row=strip.first, rows=strip.rows).load
            for strip, _ in one.strips]


def test_what_is_known_is_not_compiled_again(monkeypatch):
    """Strips reach beyond the sample's rows; only those that begin behind its last are compiled."""
    generator = np.random.default_rng(0)
    dense = generator.integers(-9, 9, (60, 140)) * (generator.random((60, 140)) < 0.1)
    matrix = scipy.sparse.csr_array(dense)
    network = Network.of_widths((4, 4, 3))
    edges = matrix, scipy.sparse.csr_array(dense[:24, :60])
    config = SMALL.replace(accumulator_rows=16)
    strips = [strips_of(count, config) for count in (300, 180, 80)]
    alone = CompiledEdges.of(network, edges, 0, config, strips=strips, symmetric=False)
    known = CompiledEdges.of_any_order(network, edges, 1, config)
    compiled = []
    monkeypatch.setattr(compiled_edges, "compile_messages", lambda matrix, *given, **named: (
        compiled.append(named["first_row"]), compile_messages(matrix, *given, **named))[1])
    again = CompiledEdges.of(
        network, edges, 0, config, strips=strips, symmetric=False, known=known)
    rows = {one.edges.name: -(-one.edges.matrix.shape[0] // config.cores)
            for one in again.matrices}
    assert sorted(compiled) == sorted(
        strip.first for one in again.matrices for strip, _ in one.strips
        if strip.first >= rows[one.edges.name])
    for one, other in zip(alone.matrices, again.matrices, strict=True):
        for (_, messages), (_, found) in zip(one.strips, other.strips, strict=True):
            for name in ("send_lists", "edge_sets"):
                assert all(map(np.array_equal, getattr(messages, name), getattr(found, name)))
    with pytest.raises(ValueError, match="another sample or configuration"):
        CompiledEdges.of(network, edges[::-1], 0, config, known=known)


def test_another_first_matrix(monkeypatch):
    """What other layers use is not compiled again."""
    generator = np.random.default_rng(1)
    dense = generator.integers(-9, 9, (60, 140)) * (generator.random((60, 140)) < 0.1)
    edges = scipy.sparse.csr_array(dense), scipy.sparse.csr_array(dense[:24, :60])
    network = Network.of_widths((4, 4, 3), orders=AGGREGATE_FIRST)
    known = CompiledEdges.of_any_order(network, edges, 0, SMALL)
    other = scipy.sparse.csr_array(dense[:, ::-1]), edges[1]
    compiled = []
    monkeypatch.setattr(compiled_edges, "compile_messages", lambda matrix, *given, **named: (
        compiled.append(matrix), compile_messages(matrix, *given, **named))[1])
    found = CompiledEdges.of(network, other, 0, SMALL, symmetric=False,
                             known=known.with_first(other[0]))
    assert [one.edges.name for one in found.matrices] == ["A1", "A2", "A2^T"]
    assert len(compiled) == len(strips_of(60, SMALL)) and all(
        matrix is other[0] for matrix in compiled)


def test_what_layers_use_forward():
    """Also of lists that serve both ways."""
    network = model_network("sage", 3, (3, 3), 3)
    symmetric = scipy.sparse.csr_array(DIRECTED + DIRECTED.T)
    edges = CompiledEdges.of(network, [symmetric] * 3, 1, SMALL)
    found = edges.of_layers(range(2, 4), trained=False)
    assert [(one.edges.name, one.edges.uses) for one in found.matrices] == [
        ("A", ((2, False), (3, False))), ("I", ((2, False), (3, False)))]
    assert not edges.of_layers(range(4, 5), trained=False).matrices
    assert [one.strips for one in found.matrices] == [one.strips for one in edges.matrices]
