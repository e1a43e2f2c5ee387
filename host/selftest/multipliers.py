# SPDX-License-Identifier: BSD-2-Clause
"""Tests every multiplier of the systolic arrays against the reference's arithmetic."""

from collections.abc import Callable, Iterator

import numpy as np

from hypercast.host.compiler.packing import pack_rows, unpack_rows
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.driver import Driver
from hypercast.host.selftest.finding import Finding
from hypercast.host.selftest.program import HALT, load_program, set_exponents, set_rows
from hypercast.reference.arithmetic import requantize
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config
from hypercast.rtl.isa import DrainSource, Engine, Opcode, encode
from hypercast.rtl.registers import Space

__all__ = ["check_arrays"]

_LIMIT = 1_000_000


def _trials(config: Config) -> Iterator[tuple[str, IntArray, IntArray, int]]:
    """(what, left rows, weights, shift): ``lanes`` rows each.

    A row with a single element takes a single multiplier of each column, but all its adders; a bit
    that is stuck in these shows in all such rows. Small factors show the low bits of products,
    large ones, shifted, the high bits.
    """
    lanes, width = config.lanes, config.element_width
    rng = np.random.default_rng(width)
    limit = 1 << width - 1
    small = 1 << width // 2 - 1
    weights = rng.integers(-limit, limit, (lanes, lanes))
    one = np.eye(lanes, dtype=np.int64)
    signs = one * rng.choice([-1, 1], lanes)[:, None]
    yield "single", signs, weights, 0
    yield "single", signs, ~weights, 0
    yield "single", one * rng.integers(-small, small, lanes)[:, None], weights % small, 0
    yield "single", one * rng.integers(-limit, limit, lanes)[:, None], weights, width - 1
    yield "all", rng.integers(-limit, limit, (lanes, lanes)), weights, width + 2
    yield "all", ~rng.integers(-limit, limit, (lanes, lanes)), ~weights, width + 2


def check_arrays(driver: Driver, *,
                 progress: Callable[[str], None] = lambda text: None) -> Iterator[Finding]:
    """Multiply, and compare.

    Parameters
    ----------
    driver : Driver
        The chip; what is in its memories is lost.
    progress : callable
        Called with a line of text before each product.

    Yields
    ------
    Finding
        A multiplier, or column of them, that is broken, and how that shows.
    """
    config = driver.config
    _prepare(driver)
    # (core, column) to rows and what they gave; row None took all multipliers.
    wrong: dict[tuple[int, int], dict[int | None, str]] = {}
    for number, (kind, left, weights, shift) in enumerate(_trials(config), 1):
        progress(f"product {number}")
        expected, _ = requantize(left @ weights, shift, config.element_width)
        try:
            products = _multiply(driver, left, weights, shift)
        except DeviceError as error:
            yield Finding("arrays", str(error))
            return
        for core, found in enumerate(products):
            for row, column in np.argwhere(found != expected):
                rows = wrong.setdefault((core, column), {})
                rows.setdefault(row if kind == "single" else None, (
                    f"gives {found[row, column]}, expected {expected[row, column]}"))
    for (core, column), rows in wrong.items():
        single = [row for row in rows if row is not None]
        part = f"multiplier ({single[0]}, {column})" if len(single) == 1 else f"column {column}"
        yield Finding(f"{part} of the array of core {core}", next(iter(rows.values())))


def _prepare(driver: Driver) -> None:
    """Load the program: the product of ``lanes`` rows at 0 goes, requantized, to behind them."""
    lanes = driver.config.lanes
    load_program(driver, [
        encode(Opcode.MATMUL, row_limit=lanes, panels=1, stride=lanes, weight_stride=lanes),
        encode(Opcode.DRAIN, waits=1 << Engine.ARRAY, source=DrainSource.ARRAY, row_limit=lanes,
               address=lanes, o=1),
        HALT,
    ])
    set_rows(driver, lanes)


def _multiply(driver: Driver, left: IntArray, weights: IntArray, shift: int) -> list[IntArray]:
    """The product as each core makes it."""
    config = driver.config
    set_exponents(driver, [0, shift])
    for core in range(config.cores):
        driver.write_words(core, Space.FEATURES, 0, pack_rows(left, config))
        driver.write_words(core, Space.WEIGHTS, 0, pack_rows(weights, config))
    driver.run(0, limit=_LIMIT)
    return [unpack_rows(driver.read_words(core, Space.FEATURES, config.lanes, config.lanes), config)
            for core in range(config.cores)]
