# SPDX-License-Identifier: BSD-2-Clause
"""Compares the messages that the network delivered with the messages that were sent."""

import numpy as np
import numpy.typing as npt

from hypercast.errors import HypercastError
from hypercast.sim.network_simulation import Ending, NetworkRun

__all__ = ["NetworkError", "check_deliveries"]


class NetworkError(HypercastError, RuntimeError):
    """The network lost or changed a message; names the first message concerned, and cycles."""


def check_deliveries(source: npt.ArrayLike, destinations: npt.ArrayLike, plane: npt.ArrayLike,
                     run: NetworkRun) -> None:
    """Check that each destination got each message once, unchanged and in order.

    Parameters
    ----------
    source, destinations, plane : (M,) array of int
        The messages that were sent, as for ``NetworkSimulation.run``.
    run : NetworkRun
        The run that sent them.

    Raises
    ------
    NetworkError
        If a flit was lost, duplicated, changed or misdelivered, if flits of one source and plane
        arrived out of order, or if a watchdog ended the run.
    """
    source, plane = (np.asarray(values, dtype=np.int64) for values in (source, plane))
    destinations = np.asarray(destinations, dtype=np.uint64)

    def named(message: int) -> str:
        return (f"message {message} from core {source[message]} in plane {plane[message]}, "
                f"injected in cycle {run.injected[message]}")

    changed = np.flatnonzero(run.message < 0)
    if changed.size:
        raise NetworkError(f"core {run.core[changed[0]]} got a flit in cycle "
                           f"{run.cycle[changed[0]]} that nobody sent so; {_describe_end(run)}")
    # Both lists are sets of (message, receiver) pairs.
    relative = np.arange(64, dtype=np.uint64)
    sent, bit = np.nonzero(destinations[:, None] >> relative & np.uint64(1))
    due = sent * 64 + (source[sent] ^ bit)
    got, counts = np.unique(run.message * 64 + run.core, return_counts=True)
    for what, pairs in (("more than once", got[counts > 1]),
                        ("though it is no destination", np.setdiff1d(got, due))):
        if pairs.size:
            raise NetworkError(f"core {pairs[0] % 64} got {named(pairs[0] // 64)}, {what}")
    lost = np.setdiff1d(due, got)
    if lost.size or run.ending != Ending.DONE:
        first = f"; core {lost[0] % 64} lacks {named(lost[0] // 64)}" if lost.size else ""
        raise NetworkError(f"{_describe_end(run)}: {lost.size} of {due.size} deliveries are missing"
                           f"{first}")
    # By receiver, source and plane, in order of arrival: messages must ascend.
    stream = (run.core * 64 + source[run.message]) * 4 + plane[run.message]
    order = np.argsort(stream, kind="stable")
    stream, message = stream[order], run.message[order]
    early = np.flatnonzero((stream[1:] == stream[:-1]) & (message[1:] < message[:-1]))
    if early.size:
        raise NetworkError(f"core {stream[early[0]] // 256} got {named(message[early[0]])}, "
                           f"before {named(message[early[0] + 1])}")


def _describe_end(run: NetworkRun) -> str:
    """How a run ended, in words."""
    if run.ending == Ending.DONE:
        return f"the run ended in cycle {run.cycles}"
    return f"watchdog {run.ending.name} ended the run in cycle {run.cycles}"
