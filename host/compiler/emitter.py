# SPDX-License-Identifier: BSD-2-Clause
"""Emits the instructions of products and the loss.

Loops over strips of rows and panels of columns are unrolled here; loops over the panels that a sum
runs over are in the array. What an instruction reads and writes is named by tensor, panel and
strip, so that the schedule can overlap whatever is independent.
"""

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from hypercast.host.compiler.instruction import Accumulators, Name
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.load import Load
from hypercast.host.compiler.memory_map import LABELS, RANKS, Region
from hypercast.host.compiler.operands import Operands, Use
from hypercast.host.compiler.row_windows import Piece, pieces_of
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.timing import Timing
from hypercast.host.compiler.vertices import Strip
from hypercast.host.compiler.weights import Weights
from hypercast.reference.dropout import Dropout
from hypercast.reference.step_graph import Node, Op
from hypercast.reference.tensor import EDGES, Kind, Pass, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import DrainSource, Opcode

__all__ = ["Emitter", "PlacedMessages"]


class PlacedMessages(NamedTuple):
    """The messages that bring a strip of rows their sums.

    Addresses of send list and edge set, the load, and the row table entry of the records walked.
    """

    send_list: int
    edge_set: int
    load: Load
    entry: int = 0


@dataclass(kw_only=True)
class Emitter:
    """Adds instructions to a schedule.

    A matrix whose index is in the memory map is word-sparse.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    regions : dict
        Where tensors lie: name to ``Region``.
    weights : dict
        Where parameters lie, as ``Weights``.
    tensors : dict
        Entry of the exponent file to its number.
    exponent_entry : callable
        Gives a tensor's entry.
    messages : dict
        (layer, backward) to the ``PlacedMessages`` of each strip of rows that are aggregated.
    roots : dict
        Like ``messages``, of rows that are added to those sums; empty if there are none.
    operands : Operands
        Where instructions find what they read, and leave what they write.
    timing : Timing
        How long instructions take.
    headroom : callable
        Bits left free above a tensor's last peak; negative if the largest values may saturate.
    labels : LabelFormat
        What is known of each vertex.

    Attributes
    ----------
    schedule : Schedule
        The instructions.
    """

    config: Config
    regions: Mapping[str, Region]
    weights: Mapping[Tensor, Weights]
    tensors: Mapping[Tensor, int]
    exponent_entry: Callable[[Tensor], Tensor]
    messages: Mapping[tuple[int, bool], Sequence[PlacedMessages]]
    roots: Mapping[tuple[int, bool], Sequence[PlacedMessages]]
    operands: Operands
    timing: Timing
    headroom: Callable[[Tensor], int]
    labels: LabelFormat
    schedule: Schedule = field(default_factory=Schedule)
    _drained: set[Tensor] = field(default_factory=set)
    _openers: dict[Tensor, Tensor] = field(default_factory=dict)  # first result of each entry
    _opened: set[Tensor] = field(default_factory=set)  # by programs that this one goes on with
    _prefetched: bool = False

    @cached_property
    def _sharing(self) -> dict[Tensor, list[Weights]]:
        """Entry of the exponent file to the parameters that it is of."""
        sharing: dict[Tensor, list[Weights]] = {}
        for name, weights in self.weights.items():
            sharing.setdefault(self.exponent_entry(name), []).append(weights)
        return sharing

    # Products.

    def compute(self, phase: int, node: Node) -> None:
        """Compute a node of the step graph: its sums, and what is stored of them."""
        if node.terms[0].op == Op.MULTIPLY:
            self._combine(phase, node)
        else:
            self._aggregate(phase, node)

    def _combine(self, phase: int, node: Node, panels: int | None = None) -> None:
        """Add up products with weights; all panels of the result, or the first ``panels``."""
        factors = [(term.rows, self.weights[term.weights]) for term in node.terms if term.weights]
        source, weights = factors[0]
        inner = weights.height // self.config.lanes
        outer, inner = (inner, weights.panels) if node.backward else (weights.panels, inner)
        for piece in self._pieces(source, outer if panels is None else panels, inner,
                                  alone=len(factors) == 1, backward=node.backward):
            accumulators = Accumulators(DrainSource.ARRAY)
            for factor, other in factors:
                self._multiply(phase, accumulators, factor, other, piece,
                               transposed=node.backward, feed=node.terms[0].dropout)
            self._drain(phase, DrainSource.ARRAY, accumulators, (source, weights.name), node, piece,
                        piece.panel)

    def _pieces(self, source: Tensor, outer: int, inner: int, *, alone: bool,
                backward: bool) -> list[Piece]:
        """The pieces of a product with ``outer`` panels, each a sum over ``inner`` panels."""
        vertices, channel = self.operands.vertices_of(source), self.regions[source].channel
        cut = (self.operands.cuts(source) or (0,))[-1]  # panels before it are in the buffer

        def cycles(rows: Strip, first: int, last: int, *, reading: bool) -> int:
            return self.timing.matmul(source, vertices.count, rows.rows, first, last - first,
                                      channel, reading=reading, row_start=rows.first).cycles

        return pieces_of(
            vertices.blocks(alike=self.operands.tiling.loops), outer, inner,
            self.operands.shared_entries(source) if alone else 0, self.config,
            sweep=0 if backward else self.operands.tiling.sweep, alike=self.operands.tiling.loops,
            # What is drained in this program comes panel by panel, of all rows.
            whole=int(source in self._drained),
            plain=lambda block: cycles(block, 0, cut, reading=False) + cycles(
                block, cut, inner, reading=True),
            windowed=lambda rows, fill: cycles(rows, 0, inner, reading=fill))

    def _multiply(self, phase: int, accumulators: Accumulators, source: Tensor, weights: Weights,
                  piece: Piece, *, transposed: bool, feed: Dropout | None) -> None:
        """Add a panel of a product: MATMULs on the runs of panels that it sums over."""
        lanes, vertices = self.config.lanes, self.operands.vertices_of(source)
        panel, block, window = piece[:3]
        inner = weights.height // lanes
        stride, step = lanes, inner * lanes
        if transposed:
            inner, stride, step = weights.panels, step, stride
        for first, count in [(0, inner)] if window else self._parts_of_sum(source, panel, inner):
            read = range(first, first + count) if transposed else [panel]
            left = self.operands.window(source, count, piece) if window else \
                self.operands.left(source, first, count, block)
            self.schedule.add(
                Opcode.MATMUL, left.fields | self.dropout_fields(feed, piece.rows.first),
                phase=phase,
                duration=self.timing.matmul(
                    source, vertices.count_of(piece.rows), piece.rows.rows, first, count,
                    self.regions[source].channel, reading=left.memory,
                    ranked=self.is_ranked(feed), row_start=piece.rows.first),
                reads=[*left.reads, *self._weights(weights, read)], writes=left.writes,
                family=self._family(source, Opcode.MATMUL, phase, weights.name, panel, first),
                strip=self.strip_of(block),
                follows=left.follows, accumulators=accumulators, vertices=vertices.entry,
                row_start=piece.rows.first, row_limit=piece.rows.rows,
                channel=self.regions[source].channel, panels=count, panel=first,
                weights=weights.base + panel * step + first * stride, weight_stride=stride,
                transposed=transposed)

    def _aggregate(self, phase: int, node: Node) -> None:
        """Add up rows over neighbours, and rows themselves."""
        key = node.layer, node.backward
        terms = [(term.rows, (self.messages if term.op == Op.AGGREGATE else self.roots)[key])
                 for term in node.terms]
        first, result = node.terms[0].rows, node.result
        strips = self.operands.vertices_of(result).strips
        panels = range(self.regions[first].panels)
        by_strips = self.operands.tiling.by_strips(
            backward=node.backward, combined=first.kind == Kind.COMBINED)
        for index, panel in itertools.product(range(len(strips)), panels) if by_strips else (
                (index, panel) for panel in panels for index in range(len(strips))):
            strip, common = strips[index], None if by_strips else panel
            accumulators = Accumulators(DrainSource.AGGREGATION)
            for name, messages in terms:
                self._send(phase, accumulators, name, panel, messages[index], strip, common)
            factors = EDGES.in_pass(result.during), first.in_pass(result.during)
            self._drain(phase, DrainSource.AGGREGATION, accumulators, factors, node,
                        Piece(panel, strip), common)

    def _send(self, phase: int, accumulators: Accumulators, source: Tensor, panel: int,
              messages: PlacedMessages, strip: Strip, common: int | None) -> None:
        """Add a panel's rows to the rows of a strip that messages lead to."""
        region = self.regions[source]
        self._prefetch(phase, messages)
        sent = self.operands.outgoing(source, panel, region.panel(panel))
        self.schedule.add(
            Opcode.AGGREGATE, sent.fields, phase=phase,
            duration=self.timing.aggregate(
                messages.load, region.channel, bypassed=not sent.memory),
            reads=[*sent.reads, ("edges", messages.edge_set)], follows=sent.follows,
            family=self._family(source, Opcode.AGGREGATE, phase, common), strip=strip.first,
            accumulators=accumulators, vertices=messages.entry, channel=region.channel,
            send_list=messages.send_list, edge_set=messages.edge_set, indexed=messages.load.indexed)

    def _prefetch(self, phase: int, messages: PlacedMessages) -> None:
        """Before the first AGGREGATE of a program: its edges come while others are at work."""
        if not self._prefetched:
            self.schedule.add(
                Opcode.AGGREGATE, phase=phase, duration=self.timing.prefetch(messages.load),
                writes=[("edges", messages.edge_set)], edge_set=messages.edge_set, prefetch=1)
            self._prefetched = True

    def _drain(self, phase: int, source: DrainSource, accumulators: Accumulators,
               factors: tuple[Tensor, Tensor], node: Node, piece: Piece,
               common: int | None) -> None:
        result = node.result
        region, vertices = self.regions[result], self.operands.vertices_of(result)
        panel, strip, rows = piece.panel, piece.strip, piece.rows
        self._drained.add(result)
        written = self.operands.result(result, piece)
        reads, writes, operands = [], list(written.writes), dict(written.fields)
        if source == DrainSource.ARRAY:
            # The exponent of the weights, which their update changes.
            reads += [part for weights in self._sharing.get(self.exponent_entry(factors[1]), ())
                      for part in self._weights(weights)]
        entry = self.exponent_entry(result)
        if entry in self._opened:
            pass  # it has its exponent
        elif entry not in self._openers:
            self._openers[entry] = result
            writes.append(("exponent", entry))
        elif self._openers[entry] != result:
            reads.append(("exponent", entry))  # which is chosen by the factors of the opener
        if node.bias:
            weights = self.weights[node.bias]
            reads += self._weights(weights)
            operands |= {"bias": 1, "bias_tensor": self.tensor(node.bias),
                         "bias_weights": weights.base + panel}
        if node.mask_write:
            writes += self.operands.parts(node.mask_write, [panel], strip)
        if node.mask_read:
            reads += self.operands.parts(node.mask_read, [panel], strip)
        if mask := node.mask_write or node.mask_read:
            operands["mask_address"] = self._mask_address(mask, rows, panel)
        if node.scale:
            operands |= {"exponent_bias": node.scale.exponent, "scale": node.scale.multiplier}
        a, b = factors
        self.schedule.add(
            Opcode.DRAIN, self.dropout_fields(node.dropout, rows.first) | operands,
            phase=phase, duration=self.timing.drain(
                vertices.count_of(rows), rows.rows, region.channel,
                aggregation=source == DrainSource.AGGREGATION, bias=bool(node.bias),
                mask_read=bool(node.mask_read), mask_write=bool(node.mask_write),
                ranked=self.is_ranked(node.dropout)),
            reads=reads, writes=writes, accumulators=accumulators,
            opens=None if entry in self._opened else entry,
            family=self._family(result, Opcode.DRAIN, phase, common),
            strip=self.strip_of(strip), vertices=vertices.entry, row_start=rows.first,
            row_limit=rows.rows, source=source,
            channel=region.channel, address=region.panel(panel, rows.first), a=self.tensor(a),
            b=self.tensor(b), o=self.tensor(result),
            peak_of=self.tensor(
                result.of_training if result.during == Pass.EVALUATION else result),
            headroom=self.headroom(result),
            relu=node.relu, mask_write=bool(node.mask_write), mask_read=bool(node.mask_read),
            panel=panel)

    def loss(self, phase: int, logits: Tensor, gradient: Tensor, classes: int, *,
             train: bool) -> None:
        """Loss and metrics; with ``train``, also the gradient of the logits.

        Without, that need not have a place.
        """
        region, vertices = self.regions[logits], self.operands.vertices_of(logits)
        panels = region.panels
        written = Use({})
        if train:
            # It writes all strips of rows, and can keep a single panel.
            whole = panels == len(vertices.strips) == 1
            written = self.operands.result(gradient, Piece(0, vertices.strips[0])) if whole else \
                Use({}, writes=self.operands.parts(gradient, range(panels)))
        self.schedule.add(
            Opcode.LOSS, self.labels._asdict() | written.fields, phase=phase,
            duration=self.timing.loss(vertices.count, vertices.rows, panels, classes),
            reads=self.operands.parts(logits, range(panels)),
            writes=written.writes,
            vertices=vertices.entry, channel=region.channel, address=region.address,
            stride=region.stride, panels=panels, classes=classes,
            info=self.regions[LABELS].address,
            destination=self.regions[gradient].address if gradient in self.regions else 0,
            a=self.tensor(logits), o=self.tensor(gradient), peak_of=self.tensor(gradient),
            open=train, headroom=self.headroom(gradient), train=train)

    def load(self, phase: int, node: Node) -> bool:
        """Bring a matrix into the operand buffer, to stay there for all programs that follow.

        It is read by a node that multiplies it, with a panel of the weights. Without effect, and
        False, if it has no place or is only read in blocks or windows of rows.
        """
        source, name = node.terms[0].rows, node.terms[0].weights
        assert name, f"{node.result} is no product"
        blocks, weights = self.operands.vertices_of(source).blocks(), self.weights[name]
        if len(blocks) > 1 or not self.operands.buffer.holds(source) or self._pieces(
                source, weights.panels, weights.height // self.config.lanes, alone=True,
                backward=False)[0].window:
            return False
        self._combine(phase, node, panels=1)
        self.operands.stay()
        return True

    def halt(self, *, phase: int, step: int, goes_on: bool = False) -> None:
        """End the program; with ``step``, also the training step.

        If it ``goes_on`` with the next one, entries of the exponent file that were opened stay so.
        """
        self.schedule.halt(phase=phase, step=step)
        self.operands.halt()
        self._drained.clear()
        self._opened = self._opened | set(self._openers) if goes_on else set()
        self._openers.clear()
        self._prefetched = False

    def go_on(self, entries: Iterable[Tensor]) -> None:
        """Count entries of the exponent file as opened before this program, too."""
        self._opened = self._opened | {*entries}

    def tensor(self, name: Tensor) -> int:
        """A tensor's number in the exponent file."""
        return self.tensors[self.exponent_entry(name)]

    def strip_of(self, block: Strip) -> int:
        """First row of the strip that a block is of."""
        return block.first // self.config.strip_rows * self.config.strip_rows

    def dropout_fields(self, dropout: Dropout | None, first: int = 0) -> dict[str, int]:
        """An instruction's fields for ``Dropout`` on what it reads or writes, if any.

        Of rows from ``first`` on, of the largest core.
        """
        if dropout is None or dropout.threshold == 0:
            return {}
        fields = {"dropout": 1, "dropout_threshold": dropout.threshold, "dropout_key": dropout.key}
        if self.is_ranked(dropout):
            fields |= {"ranked": 1, "ranks": self.regions[RANKS].address
                       + first // self.config.ranks_in_word}
        return fields

    def is_ranked(self, dropout: Dropout | None) -> bool:
        """Whether there is dropout, and ranks for it are read from memory."""
        return dropout is not None and dropout.threshold > 0 and RANKS in self.regions

    # Helpers.

    def _parts_of_sum(self, source: Tensor, panel: int, count: int) -> list[tuple[int, int]]:
        """Panels that a MATMUL sums over: (first, count) of each instruction.

        What is drained in this program comes panel by panel: the first sums begin with the panels
        that are there.
        """
        firsts = [cut for cut in self.operands.cuts(source) if cut < count] or [0]
        if panel == 0 and source in self._drained:
            firsts = list(range(count))
        return [(first, last - first) for first, last in pairwise([*firsts, count])]

    def _family(self, name: Tensor, *common: Hashable) -> Name:
        """What instructions on strips of a tensor have in common; None if there is one strip."""
        return (name, *common) if len(self.operands.vertices_of(name).strips) > 1 else None

    @staticmethod
    def _weights(weights: Weights, panels: Iterable[int] | None = None) -> list[Name]:
        """Names of a parameter's portions: of some panels, or all."""
        return [("weights", weights.name, portion.rows.start) for portion in weights.portions
                if panels is None
                or any(panel in panels for panel, _ in weights.parts(portion.rows))]

    def _mask_address(self, name: Tensor, rows: Strip, panel: int) -> int:
        region = self.regions[name]
        words = -(-region.stride // self.config.mask_rows)
        return region.address + panel * words + rows.first // self.config.mask_rows
