# SPDX-License-Identifier: BSD-2-Clause
"""Small programs for tests of the chip."""

from collections.abc import Iterable, Sequence

import numpy as np

from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.image import Block, instruction_block
from hypercast.rtl.isa import Opcode, encode
from hypercast.rtl.registers import CoreSpace, Space

__all__ = ["HALT", "load_program", "set_exponents", "set_rows"]

HALT = encode(Opcode.HALT)


def load_program(driver: Driver, instructions: Iterable[int]) -> None:
    """Put encoded instructions at row 0 of the program memory."""
    for row, instruction in enumerate(instructions):
        driver.write(instruction_block(row, instruction))


def set_rows(driver: Driver, rows: int) -> None:
    """Set the row count 0 of every core."""
    for core in range(driver.config.cores):
        driver.write(Block(core, Space.CORE, CoreSpace.ROWS, np.array([rows], dtype=np.uint32)))


def set_exponents(driver: Driver, exponents: Sequence[int]) -> None:
    """Set the exponents of tensors 0, 1, ...; their peaks become invalid."""
    entries = np.array(exponents, dtype=np.int64) & 0xFF
    driver.write(Block(0, Space.TENSORS, 0, entries.astype(np.uint32)))
