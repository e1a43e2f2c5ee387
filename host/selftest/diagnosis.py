# SPDX-License-Identifier: BSD-2-Clause
"""Tells from the counters which link has failed."""

from collections.abc import Iterator

from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.driver import Driver
from hypercast.host.selftest.finding import Finding
from hypercast.host.selftest.link_messages import Case
from hypercast.host.selftest.program import HALT, load_program
from hypercast.rtl.config import Config

__all__ = ["idle_faults", "what_stopped"]

#: Cycles in which anything moves that a program without work has at most.
_LIMIT = 10_000


def idle_faults(driver: Driver) -> list[Finding]:
    """Links that are wrong though nothing is sent; a core knows that one into it is, not which."""
    load_program(driver, [HALT])
    try:
        driver.run(0, limit=_LIMIT)
    except DeviceError as error:
        faults = driver.monitor.counters()["link_faults"]
        found = [Finding(_links_into(core, driver.config), "it differs from its parity though "
                         "nothing is sent: a wire may be stuck")
                 for core, count in enumerate(faults) if count]
        return found or [Finding("control", f"a program that only ends did not: {error}")]
    return []


def what_stopped(driver: Driver, case: Case, rows: int, error: DeviceError) -> Iterator[Finding]:
    """Links that make a case stop.

    Parameters
    ----------
    driver : Driver
        The chip, stopped.
    case : Case
        What was sent.
    rows : int
        Flits that every core sent.
    error : DeviceError
        How it stopped.

    Yields
    ------
    Finding
        A link that is broken; at least one.
    """
    config, counters = driver.config, driver.monitor.counters()
    found = False
    for core, count in enumerate(counters["link_faults"]):
        if count:
            found = True
            part = _links_into(core, config) if case.dimension is None \
                else _link(core ^ 1 << case.dimension, case.dimension)
            yield Finding(part, f"flits of plane {case.plane} came corrupted or lost")
    if not found and case.dimension is not None:
        sent = counters[f"link_{case.dimension}"]
        for core in range(config.cores):
            receiver = core ^ 1 << case.dimension
            text = f"of {rows} flits of plane {case.plane}, {sent[core]} were sent and " \
                   f"{counters['edges'][receiver]} arrived"
            if sent[core] != rows or counters["edges"][receiver] != rows:
                found = True
                yield Finding(_link(core, case.dimension), text)
    if not found:
        yield Finding(f"network, plane {case.plane}", str(error))


def _link(core: int, dimension: int) -> str:
    return f"link from core {core} to core {core ^ 1 << dimension} (dimension {dimension})"


def _links_into(core: int, config: Config) -> str:
    sources = ", ".join(str(core ^ 1 << dimension) for dimension in range(config.dimensions))
    return f"a link into core {core}, from one of cores {sources}"
