# SPDX-License-Identifier: BSD-2-Clause
"""The load of an aggregation of one panel on engines, network and memory channels."""

from dataclasses import dataclass, replace
from typing import Self

from hypercast.host.compiler.network_loads import (
    Integers,
    ejection_loads,
    injection_loads,
    link_loads,
)
from hypercast.rtl.config import Config

__all__ = ["Load"]


@dataclass(frozen=True, kw_only=True)
class Load:
    """The load of one AGGREGATE.

    Parameters
    ----------
    rows : int
        Records that the largest core walks: one for each row, unless they name rows.
    sent, links, ejected, arrivals, words, streams : int
        Flits of the core that sends most, of the busiest link and of the busiest ejection port,
        edges of the aggregator that adds most, words of the longest edge set without its header,
        and the most streams of a core that have edges.
    total_rows, messages, edges, total_words : int
        Records, flits, edges and words of edges of all cores.
    indexed : bool
        Whether records name the rows that are sent; others are not read.
    """

    rows: int
    sent: int
    links: int
    ejected: int
    arrivals: int
    words: int
    streams: int
    total_rows: int
    messages: int
    edges: int
    total_words: int
    indexed: bool = False

    def name_rows(self) -> Self:
        """The load of the same messages if records name the rows that are sent, and none else."""
        return replace(self, rows=self.sent, total_rows=self.messages, indexed=True)

    @classmethod
    def of(cls, sender: Integers, destinations: Integers, planes: Integers, sizes: Integers,
           config: Config) -> Self:
        """The load of messages.

        Parameters
        ----------
        sender, destinations, planes : (sources,) array of int
            Core of each row, destinations relative to it (0: not sent), and plane.
        sizes : (cores, streams) array of int
            Edges of each core's streams.
        config : Config
            Configuration of the chip.
        """
        sent = sender[destinations > 0]
        messages = sender, destinations, planes
        added = sizes.reshape(config.cores, -1, config.eject, config.cores).sum(axis=(1, 3))
        words = -(-sizes // config.chunks)
        return cls(
            rows=-(-len(sender) // config.cores),
            sent=int(injection_loads(sent, config.dimensions).max(initial=0)),
            links=int(link_loads(*messages, config.dimensions).max(initial=0)),
            ejected=int(ejection_loads(*messages, config).max(initial=0)),
            arrivals=int(added.max(initial=0)), words=int(words.sum(axis=1).max(initial=0)),
            streams=int((sizes > 0).sum(axis=1).max(initial=0)), total_rows=len(sender),
            messages=len(sent), edges=int(sizes.sum()), total_words=int(words.sum()))
