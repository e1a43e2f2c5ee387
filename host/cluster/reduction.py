# SPDX-License-Identifier: BSD-2-Clause
"""The time of boards that add up an array of each, so that all have the sums."""

from collections.abc import Iterable

from hypercast.host.cluster.link import ClusterLink

__all__ = ["reduction_seconds"]


def reduction_seconds(links: Iterable[ClusterLink], boards: int, size: float) -> float:
    """Time of the best of three ways, the slowest link setting the pace.

    A ring passes each of as many parts as there are boards around it twice (Patarasuk and Yuan,
    Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, 2009). Halving and
    doubling sends as many bytes in fewer messages, and doubling alone fewer messages still, each
    with all bytes (Thakur, Rabenseifner and Gropp, Optimization of Collective Communication
    Operations in MPICH, 2005). In these two, boards above a power of two first give what they have
    to another one, and last get the sums from it.

    Parameters
    ----------
    links : iterable of ClusterLink
        The ways between these boards.
    boards : int
        How many there are.
    size : float
        Bytes that each has.
    """
    if boards < 2:
        return 0.0
    turns = boards.bit_length() - 1
    paired = 1 << turns
    more = 2 * (paired < boards)

    def ways(link: ClusterLink) -> list[float]:
        outside = more * link.seconds(size)
        return [2 * (boards - 1) * link.seconds(size / boards),
                outside + 2 * (turns * link.latency + (1 - 1 / paired) * size / link.bandwidth),
                outside + turns * link.seconds(size)]

    found = [ways(link) for link in links]
    return min(max(each[way] for each in found) for way in range(3))
