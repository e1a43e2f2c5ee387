# SPDX-License-Identifier: BSD-2-Clause
"""Room for stages is what the compiler's limits and the layout of memory say."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.description import Cluster
from hypercast.host.planner.chip_limits import shortage
from hypercast.host.planner.pipelines import BoardStage, stage_footprint
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.stage_room import StageRoom, bits_of, numbers_of
from hypercast.host.planner.statistics import Statistics
from tests.host.compiler.random_networks import models


def test_sets_of_operators_are_numbers():
    assert bits_of([0, 3, 5]) == 0b101001
    assert numbers_of(0b101001) == (0, 3, 5)
    assert numbers_of(0) == ()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_room_is_what_evaluation_says(data):
    network = data.draw(models()).network
    layers = len(network.layers)
    sampled, square = data.draw(st.booleans()), data.draw(st.booleans())
    vertices = [data.draw(st.sampled_from([30, 600])) for _ in range(layers + 1)]
    boards = Cluster.of_sections({
        "boards": {f"kind {number}": {
            "board": "vcu128", "count": 1,
            "tensors": data.draw(st.sampled_from([16, 32, 64, 128])),
            "program_rows": data.draw(st.sampled_from([32, 64, 128, 512])),
            "weight_rows": data.draw(st.sampled_from([32, 64, 256])),
            "channel_words": data.draw(st.sampled_from([256, 1024, 4096]))}
            for number in range(2)},
        "links": {"network": {"gigabits": 100}}})
    training = Problem.of_network(boards, network, Statistics(
        vertices=(vertices[0],) * (layers + 1) if square or not sampled else tuple(vertices),
        edges=(2000,) * layers, sampled=sampled), micro_batches=4 if sampled else 1)
    room = StageRoom(training)
    for _ in range(5):
        stage = tuple(sorted(data.draw(st.sets(st.integers(0, layers - 1), min_size=1))))
        bits = bits_of(stage)
        for board in training.boards:
            fits = [count for count in range(1, training.micro_batches + 1) if not stage_footprint(
                training, BoardStage(stage, (board,)), board, count).excess(board, "")]
            lacking = shortage(training, stage, board, "it")
            if not lacking:
                assert room.in_flight(bits, board) == max([0, *fits])
            if board is training.fastest[0]:  # whose programs are counted
                found = room.settle(lambda stage=stage, bits=bits, board=board: [stage] * bool(
                   room.in_flight(bits, board)))
                assert found == [stage] * bool(fits and not lacking)
                assert bool(room.in_flight(bits, board)) == bool(found)
