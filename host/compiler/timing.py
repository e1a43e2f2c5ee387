# SPDX-License-Identifier: BSD-2-Clause
"""How long instructions take, and what they move.

A formula for each, from what the hardware does. Latencies that blocks hold by their pipelines are
in ``rtl.limits``; the bench found the constants here between them. Times are of an instruction on
its own; ``demands`` say what it shares with others (``execution``).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hypercast.host.compiler.load import Load
from hypercast.reference.array_types import IntArray
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import OPERATIONS, Engine, Opcode
from hypercast.rtl.limits import (
    ADAM_CYCLES,
    BIAS_GROUPS,
    BURST,
    DRAIN_CYCLES,
    ISSUE_CYCLES,
    UPDATE_CYCLES,
    VECTOR_ISSUE_CYCLES,
    VECTOR_TURNAROUND,
    array_cycles,
    bursts_under_way,
    group_size,
    refill_words,
    row_interval,
)

__all__ = ["Duration", "Timing", "issue_interval", "turnaround"]

#: Cycles from a request to its word, on top of the memory's: reader, crossbar, queue; and in the
#: crossbar alone, which has a place for each burst under way.
_READER, _CROSSBAR = 5, 2
#: Cycles from issue to the engine's start, and from its end until all cores know.
_CONTROL = 4
#: Cycles of a router, and of injection and ejection together.
_HOP, _PORTS = 3, 3
#: Cycles of an AGGREGATE that fetches edges and nothing else.
_PREFETCH = 4
#: Cycles of an AGGREGATE beyond its busiest resource and the latency of memory and network.
_AGGREGATE = 19
#: Cycles from the array engine's start to its first word: from memory beyond the reader's, from
#: the operand buffer, from the bypassed right operands.
_ARRAY_START, _BUFFER_START, _BYPASS_START = 3, 3, 6
#: Cycles from an array's sums, and from new weights, to their flits.
_REDUCE, _BROADCAST = 4, 2
#: Cycles from DRAIN's start to its first row, and cycles of a mask's reader that they hide.
_DRAIN_START, _MASK_HIDDEN = 14, 6
#: Cycles of LOSS's four stages, without the cycles that a row's groups take, and its trees: of
#: maxima and of sums, with a register every two levels.
_LOSS_STAGES, _LOSS_TREES = 38, 2
#: Cycles of an UPDATE from its state to its first element, and from the last one to its write.
_UPDATE_ENDS = 9
#: Cycles of a refresh of a channel that stalls, share of the cycles without one, share in which it
#: moves a word, and in which it takes a request.
_REFRESH = 88
_REFRESHED = 1 - _REFRESH / 975
_STALLED_RATE, _STALLED_REQUESTS = _REFRESHED * 15 / 16, _REFRESHED * 3 / 4


def _of_vector_unit(opcode: Opcode) -> bool:
    return OPERATIONS[opcode].engine == Engine.VECTOR


def issue_interval(opcode: Opcode) -> int:
    """Cycles between an issue and the next, if that is of ``opcode`` and waits for nothing."""
    return VECTOR_ISSUE_CYCLES if _of_vector_unit(opcode) else ISSUE_CYCLES


def turnaround(opcode: Opcode) -> int:
    """Cycles between its own engine's falling idle and the issue of an ``opcode``."""
    return VECTOR_TURNAROUND if _of_vector_unit(opcode) else 0


@dataclass(frozen=True, kw_only=True)
class Duration:
    """Time from an instruction's issue until the controller sees its effects, and its work.

    Parameters
    ----------
    cycles : int
        Until its engine is idle.
    tail : int
        From then on, until what it announced has arrived (REDUCTION, WEIGHTS).
    fill : int
        From its issue until every edge stream has its first words, if the buffers held another
        set.
    begin : int
        From its issue until it needs the first edge.
    ahead : float
        Cycles of channel 1 for edges of later uses, which edge buffers have room for if they held
        another set.
    visible : int
        How many of ``cycles`` pass from the last write until all writes are visible to reads.
    work : dict
        Counter (of ``registers.COUNTERS``) to what it adds to it, all cores together.
    demands : dict
        Cycles that it needs of what engines share, in the busiest core: "injection", "ejection",
        "aggregators", "channel 0" and "channel 1".
    """

    cycles: int = 0
    tail: int = 0
    fill: int = 0
    begin: int = 0
    ahead: float = 0.0
    visible: int = 0
    work: dict[str, int] = field(default_factory=dict)
    demands: dict[str, float] = field(default_factory=dict)


class Timing:
    """Durations on one configuration.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    sparse : dict, optional
        Each word-sparse matrix to its words: array (cores, blocks, panels).
    """

    def __init__(self, config: Config, sparse: Mapping[Tensor, IntArray] | None = None) -> None:
        self._config = config
        self._sparse = sparse or {}
        self._rate = _STALLED_RATE if config.memory_stalls else 1.0
        # Share of cycles in which no channel refreshes.
        self._refreshed = _REFRESHED if config.memory_stalls else 1.0
        simulated = config.memory_latency > 1 or config.memory_stalls
        self._read = (max(config.memory_latency, 2) if simulated else 1) + _READER
        self._write = max(config.memory_latency, 2) if simulated else 1
        # From a flit's injection until it is ejected in the farthest core.
        self._network = _PORTS + _HOP * config.dimensions
        # Aggregators idle now and then for want of flits, the less the more cores send them
        # (measured).
        self._unevenness = 1 + 1 / (4 + 12 * config.cores)
        # Idleness is registered, and reduced over cores.
        self._control = _CONTROL + max(1, (config.dimensions + 1) // 2)

    def _singles(self, count: float) -> float:
        """Cycles for ``count`` words of a channel, each read by a burst of its own."""
        config = self._config
        rate = min(1, bursts_under_way(config) / (config.memory_latency + _CROSSBAR))
        if config.memory_stalls:
            rate = min(rate * _REFRESHED, _STALLED_REQUESTS)
        return count / rate

    def _words(self, count: float) -> float:
        """Cycles for ``count`` consecutive words of a channel."""
        return count / self._rate

    def _duration(self, cycles: float, tail: float = 0, *, fill: float = 0, begin: float = 0,
                  ahead: float = 0, visible: int = 0, demands: Mapping[str, float] | None = None,
                  words: tuple[float, float] = (0, 0), work: dict[str, int] | None = None,
                  ) -> Duration:
        """The duration with ``words`` in the two channels, in the busiest core."""
        demands = dict(demands or {})
        for channel, count in enumerate(words):
            if count:
                demands[f"channel {channel}"] = self._words(count)
        return Duration(
            cycles=math.ceil(self._control + cycles), tail=math.ceil(tail), fill=math.ceil(fill),
            begin=math.ceil(begin), ahead=self._words(ahead), visible=visible, work=work or {},
            demands=demands)

    @staticmethod
    def _on(channel: int, count: float, other: float = 0) -> tuple[float, float]:
        """Words of both channels: ``count`` of one, ``other`` of channel 1."""
        return (count, other) if channel == 0 else (0, count + other)

    @staticmethod
    def _channel(channel: int, what: str) -> str:
        return f"{('features', 'gradients')[channel]}_{what}"

    def _share(self, vertices: int, rows: int) -> int:
        """Rows of all cores, of a strip in which the largest has ``rows``."""
        return min(rows * self._config.cores, vertices)

    def _stream(self, name: Tensor, vertices: int, rows: int, first: int, count: int, least: int, *,
                reading: bool, row_start: int) -> tuple[float, int]:
        """Cycles and words of panels that stream through the array, ``least`` cycles for each."""
        rate = self._rate if reading else 1.0
        if name in self._sparse:
            block = row_start // self._config.accumulator_rows
            words = self._sparse[name][:, block, first:first + count]
            return np.maximum(words / rate, least).sum(axis=1).max(), int(words.sum())
        return count * max(rows / rate, least), self._share(vertices, rows) * count

    def aggregate(self, load: Load, channel: int, *, bypassed: bool = False) -> Duration:
        """AGGREGATE: the busiest of rows, injection, links, aggregators and edge words.

        The first edges are there; a stream that has been used up begins again. Rows that were
        ``bypassed`` are not read from memory. If records name rows, only those are read, after
        their records.
        """
        rows, total = (0, 0) if bypassed else (load.rows, load.total_rows)
        if load.indexed:
            rows, total = load.sent, load.messages
        config = self._config
        records = load.rows * config.send_record_width / config.word_width
        added = load.arrivals * self._unevenness
        busiest = max(self._words(rows), load.sent, load.links, load.ejected, added,
                      self._words(load.words))
        if load.indexed:
            # Single rows hardly come ahead of their use, so a refresh interrupts all the rest.
            flow = max(busiest, load.rows)
            busiest = max(self._singles(rows), min(flow / self._refreshed, flow + _REFRESH))
        reads = {"features_read": 0, "gradients_read": load.total_words + math.ceil(
            load.total_rows * config.send_record_width / config.word_width)}
        reads[self._channel(channel, "read")] += total
        first = (1 if bypassed else 3 if load.indexed else 2) * self._read + self._network
        return self._duration(
            (first + _AGGREGATE) / self._refreshed + busiest, begin=first / self._refreshed,
            ahead=max(0, load.streams * config.edge_buffer - load.words),
            fill=self._fill(load, min(records, config.read_buffer)),
            words=self._on(channel, rows, load.words + records),
            demands={"injection": load.sent, "ejection": load.ejected, "aggregators": added},
            work={"sent": load.messages, "edges": load.edges, **reads})

    def prefers_names(self, loads: Sequence[Load]) -> bool:
        """Whether AGGREGATEs take fewer cycles if their lists name the rows that are sent."""
        plain, named = (
            sum(self.aggregate(one.name_rows() if names else one, 0).cycles for one in loads)
            for names in (False, True))
        return named < plain

    def prefetch(self, load: Load) -> Duration:
        """AGGREGATE with ``prefetch``: the engine is idle again, words come while others work."""
        return self._duration(_PREFETCH, fill=self._fill(load))

    def _fill(self, load: Load, others: float = 0) -> float:
        """Cycles until every stream has its first words, from the header on.

        They come after what is still under way for the set before, which takes half a read in the
        mean, and beside ``others``, words that the sender reads of the same channel.
        """
        config = self._config
        header = (2 + 2 * config.streams) / config.chunks
        return 2.5 * self._read / self._refreshed + self._words(
            header + others + load.streams * refill_words(config))

    def matmul(self, name: Tensor, vertices: int, rows: int, first: int, count: int, channel: int,
               *, reading: bool, ranked: bool = False, row_start: int = 0) -> Duration:
        """MATMUL: tiles of weights are loaded while the rows of the tile before pass.

        Of panels ``first .. first + count - 1`` and ``rows`` rows from ``row_start`` on, whose
        ranks are read for each panel if they are ``ranked``.
        """
        lanes = self._config.lanes
        cycles, words = self._stream(name, vertices, rows, first, count, lanes + 1,
                                     reading=reading, row_start=row_start)
        begin = max(self._read if reading else _BUFFER_START, lanes) + _ARRAY_START
        if name in self._sparse and reading:
            begin += self._read
        lists = count * self._rank_words(rows) if ranked else 0
        work = {self._channel(channel, "read"): words} if reading else {}
        if lists:
            work["gradients_read"] = work.get("gradients_read", 0) + lists * self._config.cores
        return self._duration(
            begin + cycles + array_cycles(self._config),
            words=self._on(channel, words / self._config.cores if reading else 0, lists),
            work={"array_words": words, **work})

    def _rank_words(self, rows: int) -> int:
        """Words of a list of ranks."""
        return -(-rows // self._config.ranks_in_word)

    def gradient(self, name: Tensor, vertices: int, first: int, tiles: int, digits: int,
                 channel: int, *, reading: bool, bypassed: bool = False,
                 sums: bool = False, ranked: bool = False, row_start: int = 0) -> Duration:
        """GRADIENT of a block's rows, from ``row_start`` on: a tile is sent while the next streams.

        ``reading`` its left operand from memory, whose rows' ranks are read for each tile if they
        are ``ranked``; its right one unless that was ``bypassed``.
        ``sums`` of columns are sent before the rows of the first tile are there.
        """
        config = self._config
        rows = -(-vertices // config.cores)
        flits = digits * config.lanes
        # A tile streams no faster than the one before is sent.
        cycles, words = self._stream(name, vertices, rows, first, tiles, flits, reading=reading,
                                     row_start=row_start)
        # The first tile takes its right operand as it comes from memory.
        begin = _BYPASS_START if bypassed else (
            self._read + self._words(rows) - (0 if name in self._sparse else rows))
        right = 0 if bypassed else rows
        # The operands lie in different channels.
        reads = {self._channel(channel, "read"): 0 if bypassed else vertices,
                 self._channel(1 - channel, "read"): words if reading else 0}
        left = words / config.cores if reading else 0
        lists = tiles * self._rank_words(rows) if ranked else 0
        reads["gradients_read"] += lists * config.cores
        sent = tiles * flits + digits * sums
        return self._duration(
            begin + cycles + array_cycles(config) + flits,
            tail=_REDUCE + self._network,
            words=(right, left + lists) if channel == 0 else (left, right + lists),
            demands=self._reduction_demands(sent),
            work={"array_words": words, "sent": sent * config.cores, **reads})

    def bias_gradient(self, vertices: int, panels: int, digits: int, channel: int, *,
                      bypassed: bool = False) -> Duration:
        """GRADIENT of a bias: each panel passes once."""
        config = self._config
        rows = -(-vertices // config.cores)
        each = max(rows if bypassed else self._words(rows), config.lanes)
        read = 0 if bypassed else panels
        return self._duration(
            (_BYPASS_START if bypassed else self._read) + panels * each + array_cycles(config)
            + digits,
            tail=_REDUCE + self._network + config.cores * digits / config.eject,
            words=self._on(channel, read * rows), demands=self._reduction_demands(panels * digits),
            work={"array_words": panels * vertices, "sent": panels * digits * config.cores,
                  self._channel(channel, "read"): read * vertices})

    def _reduction_demands(self, flits: int) -> dict[str, float]:
        """Demands of gradient rows: ``flits`` sent by each core, as many arrive."""
        arriving = flits / self._config.eject
        return {"injection": flits, "ejection": arriving, "aggregators": arriving}

    def drain(self, vertices: int, rows: int, channel: int, *, aggregation: bool = False,
              bias: bool = False, mask_read: bool = False, mask_write: bool = False,
              ranked: bool = False) -> Duration:
        """DRAIN: a row per cycle, then its writes become visible.

        From ``aggregation``, whose aggregators then add nothing. Masks are read, or ranks of rows
        if they are ``ranked``.
        """
        masks = math.ceil(rows / self._config.mask_rows)
        lists = masks if mask_read else self._rank_words(rows) if ranked else 0
        words = self._share(vertices, rows)
        work = {"features_written": 0, "gradients_written": 0, "vector_words": words}
        work[self._channel(channel, "written")] += words
        if mask_write:
            work["gradients_written"] += masks * self._config.cores
            work["vector_words"] += masks * self._config.cores
        if lists:
            work["gradients_read"] = lists * self._config.cores
        first = _DRAIN_START + (BIAS_GROUPS if bias else 0) + (
            self._read - _MASK_HIDDEN if mask_read else self._read if ranked else 0)
        return self._duration(
            first + self._words(rows + (masks if mask_write else 0)) + self._write + DRAIN_CYCLES,
            visible=self._write, demands={"aggregators": rows} if aggregation else {},
            words=self._on(channel, rows, lists + masks * mask_write), work=work)

    def loss(self, vertices: int, rows: int, panels: int, classes: int) -> Duration:
        """LOSS: a group of logits per cycle, or as long as its divider takes for each row.

        The first row is complete when a block of its last panel begins to arrive; then it waits for
        its maximum and its sum.
        """
        words = vertices * panels
        size = group_size(self._config)
        groups = math.ceil(classes / size)
        stages = _LOSS_STAGES + _LOSS_TREES * (size.bit_length() // 2)
        own = max(self._words(rows * panels), rows * max(groups, row_interval(self._config)))
        first = (panels - 1) * min(rows, BURST) + 2 * groups
        return self._duration(
            self._read + stages + first + own + self._write, visible=self._write,
            words=(rows * panels, rows * panels),
            work={"vector_words": words, "features_read": words, "gradients_written": words})

    def update(self, count: int, *, adam: bool = False, kept: bool = False) -> Duration:
        """UPDATE: a weight per cycle, or as long as one channel takes for the owned state, and for
        sums that were kept; all cores get all new rows.
        """
        config = self._config
        values = 3 if adam else 2
        reading, writing = ((values + 2 * kept) * config.state_words, values * config.state_words)
        rows = math.ceil(count / config.cores)
        own = rows * max(self._words(reading) + 1, config.lanes)
        arriving = count / config.eject
        start = self._read + UPDATE_CYCLES + _UPDATE_ENDS + (ADAM_CYCLES if adam else 0)
        return self._duration(
            start + max(own, arriving) + self._write, tail=_BROADCAST + self._network,
            words=(0, rows * (reading + writing)),
            demands={"injection": rows, "ejection": arriving,
                     **({} if kept else {"aggregators": rows})},
            work={"sent": count, "vector_words": count * writing,
                  "gradients_read": count * reading, "gradients_written": count * writing})

    def keep(self, count: int) -> Duration:
        """UPDATE with ``keep``: a sum per cycle, or as long as one channel takes to write them."""
        config = self._config
        words = 2 * config.state_words
        rows = math.ceil(count / config.cores)
        return self._duration(
            _UPDATE_ENDS + rows * max(self._words(words) + 1, config.lanes) + self._write,
            visible=self._write, words=(0, rows * words), demands={"aggregators": rows},
            work={"vector_words": count * words, "gradients_written": count * words})
