# SPDX-License-Identifier: BSD-2-Clause
"""Clusters that people have, by name; as a file would describe them."""

from typing import Any

__all__ = ["CLUSTERS"]


def _switch(gigabits: float, microseconds: float = 5.0) -> dict[str, Any]:
    """All boards' hosts on one switch."""
    return {"network": {"gigabits": gigabits, "microseconds": microseconds}}


#: Name to sections.
CLUSTERS: dict[str, dict[str, Any]] = {
    **{f"{board}-{count}{slow}": {"boards": {board: {"board": board, "count": count}},
                                  "links": links}
       for board in ("vcu128", "u280", "u50") for count in (2, 4, 8, 16)
       # Slow Ethernet is what most rooms have.
       for slow, links in (("", _switch(100.0)), ("-slow", _switch(10.0, 20.0)))},
    # Half of the boards are twice the others.
    "mixed": {"boards": {"vcu128": {"board": "vcu128", "count": 4},
                         "u50": {"board": "u50", "count": 4}}, "links": _switch(100.0)},
    # Boards on USB of one machine, whose memory is the network.
    **{f"ulx3s-{count}": {
        "boards": {"ulx3s": {"board": "ulx3s", "count": count}}, "links": _switch(100.0, 1.0)}
       for count in (2, 4)},
}
