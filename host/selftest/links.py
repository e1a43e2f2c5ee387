# SPDX-License-Identifier: BSD-2-Clause
"""Tests every link in every plane, by messages whose payload takes each bit through 0 and 1.

A case is one AGGREGATE. Arriving rows are drained to memory unchanged, so a core has there the rows
that one core, known from row and case, has sent. Kinds, digits and indexes of flits do not vary
here; gradients and updates have them all.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.memory_map import require_capacity
from hypercast.host.compiler.packing import pack_rows, unpack_rows
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.driver import Driver
from hypercast.host.selftest.diagnosis import idle_faults, what_stopped
from hypercast.host.selftest.finding import Finding
from hypercast.host.selftest.link_messages import Case, cases, messages_of, patterns, words_of
from hypercast.host.selftest.program import HALT, load_program, set_exponents, set_rows
from hypercast.reference.array_types import IntArray
from hypercast.rtl.isa import DrainSource, Engine, Opcode, encode
from hypercast.rtl.registers import Space

__all__ = ["check_links"]

#: Cycles in which anything moves that a case has at most.
_LIMIT = 1_000_000


def _size(messages: tuple[Words, Words]) -> int:
    return sum(map(len, messages))


def _program(rows: int, edge_set: int) -> list[int]:
    """Send and receive, then drain without rounding."""
    return [
        encode(Opcode.AGGREGATE, edge_set=edge_set),
        encode(Opcode.DRAIN, waits=1 << Engine.AGGREGATE, source=DrainSource.AGGREGATION,
               row_limit=rows, address=rows),
        HALT,
    ]


def check_links(driver: Driver, *,
                progress: Callable[[str], None] = lambda text: None) -> Iterator[Finding]:
    """Run all cases; the first that fails ends the test, as the chip needs a reset then.

    Parameters
    ----------
    driver : Driver
        The chip; what is in its memories is lost.
    progress : callable
        Called with a line of text before each case.

    Yields
    ------
    Finding
        A link or core that is broken, and how that shows.

    Raises
    ------
    CapacityError
        If the memory channels are too small.
    """
    config = driver.config
    rows = len(patterns(config))
    sent = [words_of(core, config) for core in range(config.cores)]
    messages = {case: messages_of(case, rows, config) for case in cases(config)}
    require_capacity(config, "channel_words", max(map(_size, messages.values()), default=0),
                     "send list and edge set of the links' test take that many words")
    if broken := idle_faults(driver):
        yield from broken
        return
    set_rows(driver, rows)
    for core, words in enumerate(sent):
        driver.write_words(core, Space.FEATURES, 0, pack_rows(words, config))
    set_exponents(driver, [0])
    for case, (lists, edges) in messages.items():
        progress(str(case))
        for core in range(config.cores):
            driver.write_words(core, Space.GRADIENTS, 0, np.concatenate([lists, edges]))
        load_program(driver, _program(rows, len(lists)))
        try:
            driver.run(0, limit=_LIMIT)
        except DeviceError as error:
            yield from what_stopped(driver, case, rows, error)
            return
        broken = list(_differences(driver, case, sent))
        yield from broken
        if broken:
            return


def _differences(driver: Driver, case: Case, sent: Sequence[IntArray]) -> Iterator[Finding]:
    """Words that arrived otherwise than they were sent."""
    config, rows = driver.config, len(sent[0])
    for core in range(config.cores):
        words = driver.read_words(core, Space.FEATURES, rows, rows)
        found = unpack_rows(words, config)
        for row, source in enumerate(case.sources(config, rows)):
            expected = sent[core ^ source][row]
            if not np.array_equal(found[row], expected):
                yield Finding(
                    f"path from core {core ^ source} to core {core}, {case}",
                    f"row {row} arrived as {found[row].tolist()}, not {expected.tolist()}")
                break
