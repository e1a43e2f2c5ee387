# SPDX-License-Identifier: BSD-2-Clause
"""Operators: rooms, what a board lacks, and what crosses between stages."""

from dataclasses import replace

import pytest

from hypercast.host.cluster.description import load_cluster
from hypercast.host.planner.operators import Cost, Footprint, Operator, OperatorGraph, size_text

[BOARD, *_] = load_cluster("vcu128-2").boards
CONFIG = BOARD.config


def operator(number, *, mask=0):
    """An operator whose output has 10 to the power of its number bytes."""
    return Operator(name=f"layer {number + 1}", output=10 ** number, mask=mask, weights=1,
                    costs={BOARD.speed: Cost(forward=number + 1, backward=2)})


def graph(*edges, count=4, skips=(), masks=()):
    return OperatorGraph(tuple(operator(number, mask=masks[number] if masks else 0)
                               for number in range(count)), edges, skips)


@pytest.mark.parametrize(("size", "text"), [
    (0, "0 kB"), (1, "0.001 kB"), (999_999, "1e+03 kB"), (1e6, "1 MB"), (12_345_678, "12.3 MB"),
    (1e9, "1 GB"), (25e9, "25 GB")])
def test_sizes(size, text):
    assert size_text(size) == text


def test_rooms_add_up():
    one, other = Footprint(1, 20, 300), Footprint(4, 50, 600)
    assert one + other == Footprint(5, 70, 900)
    assert one.times(3) == Footprint(3, 60, 900)
    assert one + Footprint() == one and Footprint() == Footprint(0, 0, 0)
    assert one.times(0.5) == Footprint(1, 10, 150)  # words are whole
    assert Footprint(3, 2, 9).bytes_on(BOARD) == 5 * CONFIG.cores * CONFIG.word_width // 8
    assert Cost(forward=2.0, backward=3.5).seconds == 5.5


def test_what_is_more_than_a_board_has():
    words, rows = CONFIG.channel_words, CONFIG.weight_rows
    assert not Footprint(words, words, rows).excess(BOARD, "layer 1")
    for too_much in (Footprint(2 * words, 1, 1), Footprint(1, 2 * words, 1)):
        text = too_much.excess(BOARD, "layers 1 to 3")
        assert text.startswith("vcu128-0 (vcu128) has 8.59 GB, but 2 times that are needed for "
                               "layers 1 to 3; take more boards")
    assert Footprint(words + 1, 0, 0).excess(BOARD, "") and Footprint(0, words + 1, 0).excess(
        BOARD, "")
    assert Footprint(0, 0, rows + 1).excess(BOARD, "layer 2").startswith(
        f"vcu128-0 (vcu128) has a weight bank of {rows} rows, but {rows + 1} are needed for layer "
        f"2; raise weight_rows to {2 * rows} (in the cluster's file: weight_rows={2 * rows})")


def test_who_reads_whom():
    found = graph((0, 1), (0, 3), (1, 2), (2, 3))
    assert found.readers == ((1, 3), (2,), (3,), ())
    assert found.sources == ((), (0,), (1,), (0, 2))
    assert not found.is_chain and graph((0, 1), (1, 2), (2, 3)).is_chain
    assert OperatorGraph.chain(found.operators) == graph((0, 1), (1, 2), (2, 3))
    assert found.seconds([0, 2], BOARD) == 1 + 3 + 2 * 2


def test_each_result_is_sent_once():
    found = graph((0, 1), (0, 2), (1, 3), (2, 3))
    assert found.cut([0], [1, 2]) == 1
    assert found.cut([0, 1], [2, 3]) == 11
    assert found.cut([0, 0], [1]) == 1
    assert found.cut([1, 2], [0]) == 0


def test_masks_go_with_results_and_gradients_come_back_without():
    found = graph((0, 1), (1, 2), (2, 3), masks=(2, 3, 5, 7))
    assert found.crossing([0, 1], [2, 3], forward=True) == 10 + 3
    assert found.crossing([0, 1], [2, 3], forward=False) == 10
    assert found.crossing([2], [1], forward=True) == 0


def test_an_operator_has_no_mask_unless_it_is_given_one():
    one = Operator(name="layer 1", output=10, weights=1, costs=operator(0).costs)
    assert one == replace(one, mask=0)
    assert OperatorGraph.chain([one, one]).crossing([0], [1], forward=True) == 10


def test_gradients_that_skip_stages_go_to_who_adds_them_up():
    """0 is read by 1 and by 3. The gradient of the latter goes to 1, which adds it to its own."""
    found = graph((0, 1), (1, 2), (2, 3), (0, 3), skips=((0, 3, 1),), masks=(2, 0, 0, 0))
    assert found.crossing([0], [3], forward=True) == 1  # of which no gradient comes back
    assert found.crossing([0], [3], forward=False) == 0
    assert found.crossing([1], [3], forward=False) == 1
    assert found.crossing([3], [1], forward=False) == 1
    assert found.crossing([0], [1], forward=True) == 1 + 2
    assert found.crossing([0], [1], forward=False) == 1
    assert found.crossing([0, 1], [2, 3], forward=False) == 10 + 1
    assert found.crossing([1, 3], [0, 2], forward=False) == 10  # of 1, which 2 reads; not of 0


def test_what_is_no_graph_of_operators():
    with pytest.raises(ValueError, match="at least one layer"):
        OperatorGraph((), ())
    with pytest.raises(ValueError, match=r"in a circle: layer \d to layer \d to layer \d$"):
        graph((0, 1), (1, 0), count=2)
    with pytest.raises(ValueError, match=r"such as layer 2, layer 1$"):
        graph((1, 0), count=2)
    assert graph(count=1).is_chain


def test_costs_are_those_of_a_boards_kind():
    slower = replace(BOARD, clock=BOARD.clock / 2)
    one = replace(operator(0), costs={BOARD.speed: Cost(forward=1, backward=1),
                                      slower.speed: Cost(forward=2, backward=2)})
    assert (one.on(BOARD).seconds, one.on(slower).seconds) == (2, 4)
