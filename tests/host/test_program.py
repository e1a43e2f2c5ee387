"""Loops over panels, tiles and chunks are unrolled as the shapes demand."""

import pytest

from hypercast.host.compiler import compile_job, updates_at
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.rtl.isa import DrainSource, Opcode, decode
from hypercast.rtl.registers import PHASES
from tests.host.models import SMALL, small_graph, small_model

CONFIG = SMALL.replace(weight_rows=1024, channel_words=16384, program_rows=2048, tensors=64)


def instructions(model, config=CONFIG, entry="train"):
    """The decoded instructions of a pass."""
    job = compile_job(model, config)
    half = job.entries["evaluate"]
    words = job.program[half:] if entry == "evaluate" else job.program[:half]
    return [decode(word) for word in words]


def of(opcode, program, **fields):
    return [entry for entry in program if entry["opcode"] == opcode
            and all(entry[name] == value for name, value in fields.items())]


def test_products_of_a_step():
    """One MATMUL per output panel, one AGGREGATE per panel, one DRAIN for each of them."""
    program = instructions(small_model(small_graph(features=5, classes=3), hidden=(4,)))
    assert len(of(Opcode.MATMUL, program, transposed=0)) == 2 + 2
    assert len(of(Opcode.MATMUL, program, transposed=1)) == 2
    assert [entry["panels"] for entry in of(Opcode.MATMUL, program)] == [3, 3, 2, 2, 2, 2]
    assert len(of(Opcode.AGGREGATE, program)) == 2 + 2 + 2 + 2
    assert len(of(Opcode.DRAIN, program)) == 6 + 8
    assert len(of(Opcode.LOSS, program)) == 1


def test_accumulators_alternate():
    program = instructions(small_model(hidden=(9,)))
    for opcodes in ({Opcode.MATMUL}, {Opcode.AGGREGATE, Opcode.GRADIENT}):
        buffers = [entry["buffer"] for entry in program if entry["opcode"] in opcodes]
        assert buffers == [(1 + index) % 2 for index in range(len(buffers))]


@pytest.mark.parametrize(("vertices", "rows"), [(32, [16]), (33, [16, 1]), (70, [16, 16, 3])])
def test_destination_tiles(vertices, rows):
    """More rows than the accumulators hold: products tile by tile, one exponent for all."""
    program = instructions(small_model(small_graph(vertices, classes=2), hidden=(2,)))
    tiles = [(16 * index, limit) for index, limit in enumerate(rows)]
    drains = of(Opcode.DRAIN, program, o=program[1]["o"])
    assert [(entry["row_start"], entry["row_limit"]) for entry in drains] == tiles
    assert [entry["open"] for entry in drains] == [1] + [0] * (len(rows) - 1)
    starts = [entry["address"] for entry in drains]
    assert starts == [starts[0] + first for first, _ in tiles]
    aggregates = of(Opcode.AGGREGATE, program)
    assert len({entry["edge_set"] for entry in aggregates}) == len(rows)


def test_directed_graph_has_messages_of_its_own_backward():
    edges = [[0, 1], [1, 2], [0, 3]]
    for directed, sets in ((False, 1), (True, 2)):
        graph = small_graph(vertices=6, edges=edges, directed=directed)
        program = instructions(small_model(graph))
        assert len({entry["edge_set"] for entry in of(Opcode.AGGREGATE, program)}) == sets


@pytest.mark.parametrize(("features", "chunks"), [(32, [16]), (33, [16, 1]), (70, [16, 16, 3])])
def test_reductions_in_chunks(features, chunks):
    """Two cores hold 16 tiles of gradient rows; panel by panel, one exponent for all chunks."""
    program = instructions(small_model(small_graph(features=features, classes=2), hidden=(3,)))
    first = next(index for index, entry in enumerate(program)
                 if entry["opcode"] == Opcode.GRADIENT and entry["panels"] == chunks[0] > 1)
    pairs = program[first:first + 4 * len(chunks)]
    gradients, updates = pairs[::2], pairs[1::2]
    assert [entry["panels"] for entry in gradients] == chunks * 2
    assert [entry["tiles"] for entry in updates] == chunks * 2
    assert [entry["panel"] for entry in gradients] == [16 * i for i in range(len(chunks))] * 2
    assert [entry["open"] for entry in updates] == [1] + [0] * (2 * len(chunks) - 1)
    assert [entry["buffer"] for entry in gradients] == [entry["buffer"] for entry in updates]
    lengths = [2 * tiles for tiles in chunks * 2]
    starts = [updates[0]["weights"] + sum(lengths[:index]) for index in range(len(lengths))]
    assert [entry["weights"] for entry in updates] == starts


def test_dropout_is_where_the_layers_inputs_are_made():
    """The first layer's on what the array reads, all others' on what is drained."""
    for middle in (COMBINE_FIRST, AGGREGATE_FIRST):
        model = small_model(hidden=(4, 4), orders=(COMBINE_FIRST, middle, COMBINE_FIRST))
        program = instructions(model)
        keys = [dropout.key for dropout in model.network.dropouts]
        assert {entry["dropout_key"] for entry in of(Opcode.MATMUL, program, dropout=1)} == \
            {keys[0]}
        assert {entry["dropout_key"] for entry in of(Opcode.GRADIENT, program, dropout=1)} == \
            {keys[0]}
        drains = of(Opcode.DRAIN, program, dropout=1)
        assert [entry["dropout_key"] for entry in drains] == [keys[1]] * 2 + [keys[2]] * 2
        assert all(entry["relu"] and entry["mask_write"] and entry["bias"] for entry in drains)


def test_evaluation_has_no_dropout_and_leaves_training_alone():
    model = small_model(hidden=(4, 4), dropout=0.3)
    job = compile_job(model, CONFIG)
    program = instructions(model, entry="evaluate")
    assert {entry["opcode"] for entry in program} == {
        Opcode.MATMUL, Opcode.AGGREGATE, Opcode.DRAIN, Opcode.LOSS, Opcode.HALT}
    for entry in program:
        assert not entry.get("dropout") and not entry.get("mask_write") and not entry.get("scale")
    training = {number for name, number in job.tensors.items() if not name.endswith(".eval")}
    for entry in of(Opcode.DRAIN, program):
        assert entry["o"] not in training and entry["peak_of"] in training
    assert of(Opcode.LOSS, program)[0]["train"] == 0
    assert program[-1]["step"] == 0


def test_scaled_words_are_not_used():
    for orders in (COMBINE_FIRST, (COMBINE_FIRST, AGGREGATE_FIRST)):
        program = instructions(small_model(orders=orders))
        assert not of(Opcode.DRAIN, program, source=DrainSource.SCALED)


@pytest.mark.parametrize(("layers", "counters"), [(1, 6), (4, 15), (5, 5), (7, 5)])
def test_phases_fit_the_counters(layers, counters):
    model = small_model(hidden=(2,) * (layers - 1))
    program = instructions(model) + instructions(model, entry="evaluate")
    assert {entry["phase"] for entry in program} == set(range(counters))
    assert len(compile_job(model, CONFIG).phases) == counters <= PHASES


def test_rates_follow_the_schedule():
    model = small_model(schedule=((2, 0.5),), momentum=0.9)
    job = compile_job(model, CONFIG)
    before, same, after = (dict(updates_at(job, model, epoch)) for epoch in (0, 1, 2))
    assert before == same == {row: job.program[row] for row, _ in job.updates}
    for row, name in job.updates:
        old, new = decode(before[row]), decode(after[row])
        changed = {field for field in old if old[field] != new[field]}
        assert changed <= {"rate", "rate_shift"} and changed, name
        assert new["rate"] / 2**new["rate_shift"] == \
            pytest.approx(0.5 * old["rate"] / 2**old["rate_shift"], rel=1e-4)
