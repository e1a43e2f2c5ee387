# SPDX-License-Identifier: BSD-2-Clause
"""Whether nextpnr still gets nearer to a routed design.

Its second router routes all nets, counts the wires that several nets use, and routes those nets
again, until there is none. A design that fills an FPGA may never come to that end; with another
seed, that is, another placement, it does.
"""

import re

__all__ = ["no_progress"]

_ROUND = re.compile(r"\biter=\d+ .*\boverused=(\d+)")
#: Rounds without fewer wires than ever before.
_PATIENCE = 60


def no_progress(log: str) -> str:
    """Why routing is hopeless, by nextpnr's log; empty if it is not.

    Parameters
    ----------
    log : str
        What ``nextpnr --router router2 --log`` has written so far.
    """
    overused = [int(count) for count in _ROUND.findall(log)]
    if not overused:
        return ""
    best = overused.index(min(overused))
    if len(overused) - 1 - best < _PATIENCE:
        return ""
    return (f"after {len(overused)} rounds of routing, {overused[best]} wires or more are used "
            f"twice since round {best + 1}")
