# SPDX-License-Identifier: BSD-2-Clause
"""A divided graph against a dealt one."""

from hypercast.benches.board_division import divided_order
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph


def test_a_divided_graph_reads_fewer_rows_than_a_dealt_one():
    figures = list(divided_order("blocks", Graph(**blocks(
        vertices=600, classes=8, degree=12.0, mixing=0.1))))
    assert all(figure.passed for figure in figures)
    rows = [figure for figure in figures if ": rows" in figure.name]
    assert [figure.name.split(":")[0] for figure in rows] == [
        "blocks among 4 boards", "blocks among 8 boards"]
    assert all(figure.value < 0.8 for figure in rows)
    *_, work, cycles = figures
    assert 1 <= work.value < 1.1
    assert 0.9 < cycles.value <= 1.02
