# SPDX-License-Identifier: BSD-2-Clause
"""Places of sums, of a batch and of the next one, are exchanged, and nothing else is."""

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.exchange import exchange
from hypercast.host.compiler.layout import SUMS, SUMS_AHEAD
from hypercast.host.compiler.memory_map import MemoryMap
from hypercast.reference.network import AGGREGATE_FIRST
from hypercast.rtl.isa import Opcode, decode, encode
from tests.host.models import SMALL, small_model

CONFIG = SMALL.replace(channel_words=4096, program_rows=512)
TENSORS = {SUMS: 3, SUMS_AHEAD: 7}


@pytest.fixture
def memory():
    """Three rows of two panels each, from words 4 and 10 of channel 1."""
    found = MemoryMap(CONFIG, [9, 3])
    found.words("before", 1, 4)
    for name in (SUMS, SUMS_AHEAD):
        found.matrix(name, 1, 2 * CONFIG.lanes)
    return found


@pytest.mark.parametrize(("opcode", "fields", "changes"), [
    (Opcode.DRAIN, {"channel": 1, "address": 13, "o": 7, "peak_of": 7, "a": 1, "b": 2},
     {"address": 7, "o": 3, "peak_of": 3}),
    (Opcode.DRAIN, {"channel": 0, "address": 5, "o": 2, "a": 3, "bias_tensor": 1}, {"a": 7}),
    (Opcode.MATMUL, {"channel": 1, "address": 4}, {"address": 10}),
    (Opcode.MATMUL, {"channel": 1, "address": 9}, {"address": 15}),
    (Opcode.MATMUL, {"channel": 1, "address": 16}, {}),
    (Opcode.MATMUL, {"channel": 1, "address": 3}, {}),
    (Opcode.MATMUL, {"channel": 0, "address": 4}, {}),
    (Opcode.GRADIENT, {"gradient_channel": 0, "gradient_address": 4, "address": 7},
     {"address": 13}),
    (Opcode.GRADIENT, {"gradient_channel": 1, "gradient_address": 4, "address": 7},
     {"gradient_address": 10}),
    (Opcode.AGGREGATE, {"channel": 0, "address": 4, "send_list": 4, "edge_set": 12, "indexed": 1},
     {"send_list": 10, "edge_set": 6}),
    (Opcode.AGGREGATE, {"prefetch": 1, "send_list": 4, "edge_set": 10}, {"edge_set": 4}),
    (Opcode.LOSS, {"channel": 0, "address": 4, "info": 5, "destination": 20}, {"info": 11}),
    (Opcode.GRADIENT, {"gradient_channel": 0, "ones": 1, "address": 4}, {}),
    (Opcode.DRAIN, {"channel": 0, "address": 5, "vertices": 3}, {}),
    (Opcode.UPDATE, {"a": 3, "b": 2, "o": 1, "first_row": 4}, {"a": 7}),
    (Opcode.HALT, {"step": 1, "phase": 3}, {}),
])
def test_instructions(memory, opcode, fields, changes):
    pairs = [(memory[SUMS], memory[SUMS_AHEAD])]
    word = encode(opcode, **fields)
    [found] = exchange([word], pairs, TENSORS, 5)
    if "vertices" in decode(word):
        changes = changes | {"vertices": fields.get("vertices", 0) + 5}
    assert decode(found) == decode(encode(opcode, **fields | changes))
    assert exchange([found], pairs, TENSORS, -5) == [word]


def test_jobs_of_steps_in_turn():
    """What is made ahead in one step is where the next one finds its own."""
    job = compile_job(small_model(orders=AGGREGATE_FIRST, dropout=0.0), CONFIG, ahead=True)
    after = job.after_step()
    assert after.program != job.program and after.after_step() == job
    for one, other in ((SUMS, SUMS_AHEAD), (SUMS_AHEAD, SUMS)):
        assert after.regions[one].address == job.regions[other].address
        assert after.regions[one].tensor == one == after.regions[one].name
        assert after.tensors[one] == job.tensors[other]
    assert job.matrices == after.matrices and SUMS_AHEAD not in job.matrices


def test_both_programs_stay_where_there_is_room():
    """Each has its place in program memory and row table, or both take turns in one."""
    model = small_model(orders=AGGREGATE_FIRST, dropout=0.0)
    job = compile_job(model, CONFIG, ahead=True)
    assert job.places == (0, len(job.program)) and job.row_entries == (0, len(job.row_table[0]))
    assert job.after_step().start("train") == len(job.program) + job.starts["train"]
    rows = 1 << (len(job.program) - 1).bit_length()
    tight = compile_job(model, CONFIG.replace(program_rows=rows), ahead=True)
    assert 2 * len(tight.program) > rows and tight.places == (0, 0)
    assert tight.after_step().start("train") == tight.starts["train"]
