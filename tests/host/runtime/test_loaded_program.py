# SPDX-License-Identifier: BSD-2-Clause
"""What is known of a program memory is what was written into it."""

import numpy as np
import pytest

from hypercast.host.runtime.image import instruction_block
from hypercast.host.runtime.loaded_program import LoadedProgram
from hypercast.rtl.isa import Opcode, encode

PROGRAM = [encode(Opcode.MATMUL), encode(Opcode.HALT, step=1), encode(Opcode.MATMUL),
           encode(Opcode.HALT)]


def loaded(program, first=0):
    found = LoadedProgram()
    for row, instruction in enumerate(program, first):
        block = instruction_block(row, instruction)
        found.write(block.address, block.words.tolist())
    return found


def test_steps_are_those_of_the_next_halt():
    found = loaded(PROGRAM, first=5)
    assert [found.steps(row) for row in (5, 6, 7, 8)] == [1, 1, 0, 0]


@pytest.mark.parametrize(("entry", "row"), [(0, 0), (4, 4), (9, 9), (-1, -1)])
def test_rows_that_were_not_written(entry, row):
    with pytest.raises(ValueError, match=f"no program at row {entry}: row {row} was not loaded"):
        loaded(PROGRAM, first=5).steps(entry)


def test_a_program_without_an_end():
    with pytest.raises(ValueError, match="no program at row 2: row 3 was not loaded"):
        loaded(PROGRAM[:3]).steps(2)


def test_what_is_written_last_counts():
    found = loaded(PROGRAM)
    block = instruction_block(1, encode(Opcode.HALT))
    found.write(block.address, np.asarray(block.words).tolist())
    assert found.steps(0) == 0
    found.clear()
    with pytest.raises(ValueError, match="row 0 was not loaded"):
        found.steps(0)


def test_difference():
    """From the first value that differs to the last, or nothing."""
    found = LoadedProgram()
    found.write(16, [1, 2, 3, 4])
    assert found.difference(16, [1, 2, 3, 4])[1] == []
    assert found.difference(16, [1, 5, 3, 6]) == (17, [5, 3, 6])
    assert found.difference(18, [3, 4, 0]) == (20, [0])
