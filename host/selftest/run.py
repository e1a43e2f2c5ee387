# SPDX-License-Identifier: BSD-2-Clause
"""The self-test: memories, links, arrays and a training step, in this order."""

import itertools
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.runtime.driver import Driver
from hypercast.host.selftest.finding import Finding
from hypercast.host.selftest.gradients import check_gradients
from hypercast.host.selftest.links import check_links
from hypercast.host.selftest.memories import check_memories
from hypercast.host.selftest.multipliers import check_arrays
from hypercast.host.selftest.training_step import check_training
from hypercast.host.transport.transport import Transport
from hypercast.rtl.config import Config

__all__ = ["SECTIONS", "Section", "self_test"]

#: Names of the sections, and what each covers.
SECTIONS = {
    "memories": "every bit of the memories that the window reaches",
    "links": "every link in every plane, payload bits as 0 and as 1",
    "arrays": "every multiplier, in products and in sums",
    "training": "a training step, compared with the reference",
}


class Section(NamedTuple):
    """The findings of a section.

    Attributes
    ----------
    name : str
        One of ``SECTIONS``.
    findings : tuple of Finding
        What is wrong.
    omitted : str
        Why it was not run, else empty.
    """

    name: str
    findings: tuple[Finding, ...] = ()
    omitted: str = ""


def self_test(transport: Transport, config: Config, *, sections: Collection[str] = tuple(SECTIONS),
              quick: bool = False,
              progress: Callable[[str], None] = lambda text: None) -> Iterator[Section]:
    """Test a chip; what is in its memories is lost.

    Each section relies on the blocks that earlier sections have tested. Where one finds something,
    later sections are omitted: the chip may need a reset.

    Parameters
    ----------
    transport : Transport
        The chip.
    config : Config
        The chip's configuration.
    sections : iterable of str
        Which of ``SECTIONS`` to run.
    quick : bool
        Whether to test memories only at addresses that differ in one bit.
    progress : callable
        Called with a line of text before each part.

    Yields
    ------
    Section
        What each section found.

    Raises
    ------
    MismatchError
        If the chip is no Hypercast, or of another version or configuration.
    """
    driver = Driver(transport, config)
    tests: dict[str, Callable[[], Iterator[Finding]]] = {
        "memories": lambda: check_memories(driver, quick=quick, progress=progress),
        "links": lambda: check_links(driver, progress=progress),
        "arrays": lambda: itertools.chain(check_arrays(driver, progress=progress),
                                          check_gradients(driver, progress=progress)),
        "training": lambda: check_training(transport, config),
    }
    failed = ""
    for name in SECTIONS:
        if name not in sections:
            continue
        if failed:
            yield Section(name, omitted=f"{failed} must be sound first; reset the chip and repeat")
            continue
        progress(name)
        try:
            findings = tuple(tests[name]())
        except CapacityError as error:
            yield Section(name, omitted=str(error))
            continue
        failed = name if findings else ""
        yield Section(name, findings)
