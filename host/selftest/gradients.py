# SPDX-License-Identifier: BSD-2-Clause
"""Tests the arrays where they accumulate, and the digits that carry their sums to the owners."""

from collections.abc import Callable, Iterator

import numpy as np

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.packing import pack_rows, unpack_rows
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.image import Block
from hypercast.host.selftest.finding import Finding
from hypercast.host.selftest.program import HALT, load_program, set_exponents, set_rows
from hypercast.reference.arithmetic import requantize
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config
from hypercast.rtl.isa import DrainSource, Engine, Opcode, encode
from hypercast.rtl.registers import CoreSpace, Space

__all__ = ["check_gradients"]

_LIMIT = 1_000_000
#: Rows that are multiplied, and where the sums go.
_ROWS = 2
_RESULT = _ROWS


def _trials(config: Config) -> Iterator[tuple[IntArray, IntArray, int]]:
    """(left rows, right rows, shift): small factors show the low bits of sums, large the high."""
    width = config.element_width
    rng = np.random.default_rng(width)
    for limit, shift in ((1 << width // 2 - 2, 0), (1 << width - 1, width)):
        left, right = rng.integers(-limit, limit, (2, _ROWS, config.lanes))
        yield left, right, shift
        yield ~left, right, shift


def check_gradients(driver: Driver, *,
                    progress: Callable[[str], None] = lambda text: None) -> Iterator[Finding]:
    """Let one core after the other send a gradient; the others' gradients are zero.

    Parameters
    ----------
    driver : Driver
        The chip; what is in its memories is lost.
    progress : callable
        Called with a line of text before each core.

    Yields
    ------
    Finding
        A multiplier that is broken, or what else stops the gradient, and how that shows.
    """
    config = driver.config
    _prepare(driver)
    for core in range(config.cores):
        progress(f"gradient of core {core}")
        wrong: dict[tuple[int, int], str] = {}
        for left, right, shift in _trials(config):
            expected, _ = requantize(left.T @ right, shift, config.element_width)
            try:
                found = _gradient(driver, core, left, right, shift)
            except DeviceError as error:
                yield Finding(f"gradient of core {core}, or its way to the owners", str(error))
                return
            for row, column in np.argwhere(found != expected):
                wrong.setdefault((row, column), (
                    f"sums to {found[row, column]}, expected {expected[row, column]}"))
        driver.write_words(core, Space.FEATURES, 0, _zeros(config))
        for (row, column), text in wrong.items():
            yield Finding(f"multiplier ({row}, {column}) of the array of core {core}, or the way "
                          f"of its sums to core {row % config.cores}", text)


def _zeros(config: Config) -> Words:
    return np.zeros((_ROWS, config.chunks), dtype=np.uint32)


def _prepare(driver: Driver) -> None:
    """Load the program: reduce a tile of a gradient, and drain what each core owns of it."""
    config = driver.config
    owned = -(-config.lanes // config.cores)
    load_program(driver, [
        encode(Opcode.GRADIENT, row_limit=_ROWS, panels=1, stride=_ROWS, gradient_channel=1,
               digits=config.digits),
        encode(Opcode.DRAIN, waits=1 << Engine.ARRAY | 1 << Engine.REDUCTION, vertices=1,
               source=DrainSource.AGGREGATION, row_limit=owned, address=_RESULT, o=1),
        HALT,
    ])
    set_rows(driver, _ROWS)
    for core in range(config.cores):
        driver.write(Block(core, Space.CORE, CoreSpace.ROWS + 1,
                           np.array([owned], dtype=np.uint32)))
        driver.write_words(core, Space.FEATURES, 0, _zeros(config))
        driver.write_words(core, Space.GRADIENTS, 0, _zeros(config))


def _gradient(driver: Driver, core: int, left: IntArray, right: IntArray, shift: int) -> IntArray:
    """The gradient of a core, (lanes, lanes), collected from the owners of its rows."""
    config = driver.config
    set_exponents(driver, [0, shift])
    driver.write_words(core, Space.FEATURES, 0, pack_rows(left, config))
    driver.write_words(core, Space.GRADIENTS, 0, pack_rows(right, config))
    driver.run(0, limit=_LIMIT)
    owned = -(-config.lanes // config.cores)
    parts = [unpack_rows(driver.read_words(owner, Space.FEATURES, _RESULT, owned), config)
             for owner in range(config.cores)]
    return np.stack(parts, axis=1).reshape(-1, config.lanes)[:config.lanes]
