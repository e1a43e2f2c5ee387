# SPDX-License-Identifier: BSD-2-Clause
"""Where instructions find their operands: in memory, or kept closer to an engine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from hypercast.host.compiler.bypass_map import BypassMap
from hypercast.host.compiler.instruction import SHARED, Name
from hypercast.host.compiler.memory_map import Region, index_name
from hypercast.host.compiler.operand_map import OperandMap
from hypercast.host.compiler.panel_groups import Run
from hypercast.host.compiler.row_windows import Piece
from hypercast.host.compiler.tiling import PLAIN, Tiling
from hypercast.host.compiler.vertices import Strip, Vertices
from hypercast.reference.tensor import Pass, Tensor
from hypercast.rtl.isa import Bypass

__all__ = ["Operands", "Use"]

#: A panel of a block of a tensor: that tensor, the panel, and the block's first row.
_BlockPanel: TypeAlias = tuple[Tensor, int, int]
#: Rows of such a panel: the row table's entry of its vertices, the first of them, and how many.
_Rows: TypeAlias = tuple[int, int, int]


class Use(NamedTuple):
    """How an instruction uses a matrix.

    Attributes
    ----------
    fields : dict
        The instruction's fields.
    reads, writes, follows : tuple
        Names for the schedule, see ``Schedule.add``.
    memory : bool
        Whether it is read from memory.
    """

    fields: dict[str, int]
    reads: tuple[Name, ...] = ()
    writes: tuple[Name, ...] = ()
    follows: tuple[Name, ...] = ()
    memory: bool = False


@dataclass(kw_only=True)
class Operands:
    """Knows what is kept where at each place in the program.

    Parameters
    ----------
    regions : dict
        Where tensors lie: name to ``Region``.
    vertices : sequence of Vertices
        Vertices of the input, and of every layer's output.
    buffer : OperandMap
        Which left operands the array's operand buffer has room for.
    bypass : BypassMap
        Which rows to be sent, and right operands, bypass memory.
    following : sequence of Vertices
        Vertices of the next batch's input, and of its first layer's output; empty if a step does
        not work on it.
    tiling : Tiling
        In what order parts of matrices are worked on that do not fit.
    """

    regions: dict[str, Region]
    vertices: Sequence[Vertices]
    buffer: OperandMap
    bypass: BypassMap
    following: Sequence[Vertices] = ()
    tiling: Tiling = PLAIN
    # Panels in the operand buffer, to their rows.
    _present: dict[_BlockPanel, _Rows] = field(default_factory=dict)
    _resident: dict[_BlockPanel, _Rows] = field(default_factory=dict)
    # What several instructions wrote, each some rows: nothing follows the last of them.
    _windowed: set[Name] = field(default_factory=set)

    def parts(self, name: Tensor, panels: Iterable[int],
              strip: Strip | None = None) -> tuple[_BlockPanel, ...]:
        """Names of panels of a tensor, of all blocks of rows or of a strip."""
        blocks = self.vertices_of(name).blocks(strip)
        return tuple((name, panel, each.first) for panel in panels for each in blocks)

    def vertices_of(self, name: Tensor) -> Vertices:
        """The vertices that a tensor has rows of."""
        vertices = self.following if name.during == Pass.NEXT else self.vertices
        return vertices[name.level]

    def cuts(self, name: Tensor) -> tuple[int, ...]:
        """Where a left operand's panels have to be parted, as ``OperandMap.cuts``."""
        return self.buffer.cuts(name.of_training)

    def shared_entries(self, name: Tensor) -> int:
        """Entries of the operand buffer in which parts of a dense left operand take turns that does
        not fit; else 0. What stays there for all programs leaves none.
        """
        if not self.tiling.turns:
            return 0
        stays = any(part[0].of_training == name.of_training for part in self._resident)
        return 0 if stays else self.buffer.shared_entries(name.of_training)

    def starts(self, name: Tensor) -> tuple[int, ...]:
        """Where panels that are not the whole matrix have to be parted."""
        return self.buffer.starts(name.of_training)

    def left(self, name: Tensor, first: int, count: int, strip: Strip,
             vertices: Vertices | None = None) -> Use:
        """The left operand of a MATMUL or GRADIENT: panels of a block of rows.

        What is taken from the operand buffer was put there by an instruction with the same rows,
        as the words there say which of them is the last one. A GRADIENT can work on less
        ``vertices`` than the operand has rows of, if its columns are of less.
        """
        vertices = vertices or self.vertices_of(name)
        parts = self.parts(name, range(first, first + count), strip)
        region, row = self.regions[name], strip.first
        fields = {"address": region.panel(first, row), "stride": region.stride} \
            if region.stride else {
            "sparse": 1, "address": self.regions[index_name(name, first, row)].address}
        place = name.of_training
        if not self.buffer.holds(place, first, count):
            return Use(fields, parts, memory=True)
        rows = vertices.entry, row, strip.rows
        if any(self._resident.get(part, rows) != rows for part in parts):
            return Use(fields, parts, memory=True)
        fill = any(self._present.get(part) != rows for part in parts)
        self._present.update(dict.fromkeys(parts, rows))
        fields |= self.buffer.fields(place, first, row, fill=fill)
        entries = _entries(parts)
        if fill:
            return Use(fields, parts, entries, memory=True)
        return Use(fields, entries,
                   follows=self._follow(entries) if count == 1 and region.stride else ())

    def window(self, name: Tensor, count: int, piece: Piece) -> Use:
        """The left operand of a MATMUL: the first ``count`` panels of a window of rows."""
        fields = {"address": self.regions[name].panel(0, piece.rows.first)}
        parts = self.parts(name, range(count), piece.strip)
        return self._share(name, fields, parts, 0, piece.stride, fill=piece.fill)

    def group(self, name: Tensor, run: Run, strip: Strip, vertices: Vertices) -> Use:
        """The left operand of a GRADIENT of a group of panels, of a block of rows of ``vertices``.
        """
        fields = {"address": self.regions[name].panel(run.first, strip.first)}
        parts = self.parts(name, range(run.first, run.first + run.tiles), strip)
        assert run.start is not None
        stride = vertices.blocks()[0].rows  # of all, so that they are alike
        offset = (run.first - run.start) * stride
        return self._share(name, fields, parts, offset, stride, fill=run.fill)

    def _share(self, name: Tensor, fields: dict[str, int], parts: tuple[_BlockPanel, ...],
               offset: int, stride: int, *, fill: bool) -> Use:
        """A part of a left operand that does not fit, in the operand buffer.

        Whatever else of the matrix was there is not there any more.
        """
        place = name.of_training
        fields |= {"stride": self.regions[name].stride,
                   **self.buffer.share_place(place, offset, stride, fill=fill)}
        entries = (SHARED,) if self.buffer.is_tiled(place) else \
            _entries(self.parts(name, range(self.buffer.panel_places(place))))
        for part in [part for part in self._present if part[0].of_training == place]:
            del self._present[part]
        if fill:
            return Use(fields, parts, entries, memory=True)
        return Use(fields, entries)

    def outgoing(self, name: Tensor, panel: int, address: int) -> Use:
        """The rows of an AGGREGATE, from an address on."""
        return self._source(Bypass.SEND, name, panel, {"address": address})

    def right(self, name: Tensor, panel: int, strip: Strip) -> Use:
        """The right operand of a GRADIENT, of a block of rows."""
        region, row = self.regions[name], strip.first
        return self._source(
            Bypass.RIGHT, name, panel,
            {"gradient_channel": region.channel, "gradient_address": region.panel(panel, row)},
            strip)

    def result(self, name: Tensor, piece: Piece) -> Use:
        """Outputs of DRAIN, or of LOSS with one panel: to memory, and past it."""
        panel, strip, window = piece[:3]
        first, vertices = piece.rows.first, self.vertices_of(name)
        parts, place = self.parts(name, [panel], strip), name.of_training
        if name.during == Pass.NEXT:
            return Use({}, writes=parts)  # its place close to the engines is this batch's
        fields, names, passed = {"bypass": 0}, list[Name](parts), list[Name]()
        # Of several blocks, the words there would not say where the first of them ends.
        if len(parts) == 1 and self.buffer.holds(place, panel):
            fields["bypass"] |= 1 << Bypass.LEFT
            fields["left_base"] = self.buffer.entry(place, panel, first)
            names += _entries(parts)
            self._present.update(
                dict.fromkeys(parts, (vertices.entry, strip.first, strip.rows)))
        for target, base in ((Bypass.RIGHT, "right_base"), (Bypass.SEND, "send_base")):
            entry = self.bypass.base(target, place, panel)
            if entry is not None:
                fields["bypass"] |= 1 << target
                fields[base] = entry + first
                passed.append((target, name, panel))
        for some, whole in ((names, not window),
                            (passed, not window and strip.rows == vertices.rows)):
            (self._windowed.difference_update if whole else self._windowed.update)(some)
        return Use(fields if fields["bypass"] else {}, writes=(*names, *passed))

    def stay(self) -> None:
        """Let the contents of the operand buffer stay there for all programs that follow."""
        self._resident = dict(self._present)

    def halt(self) -> None:
        """End a program: the next one finds what stays from step to step."""
        self._present = dict(self._resident)

    def _source(self, target: Bypass, name: Tensor, panel: int, fields: dict[str, int],
                strip: Strip | None = None) -> Use:
        """A panel that may bypass memory, or else is read from memory."""
        base = self.bypass.base(target, name.of_training, panel)
        if base is None:
            return Use(fields, self.parts(name, [panel], strip), memory=True)
        names, first = ((target, name, panel),), strip.first if strip else 0
        whole = not strip or strip.rows == self.vertices_of(name).rows
        return Use(fields | {"bypassed": 1, "bypass_base": base + first}, names,
                   follows=self._follow(names) if whole else ())

    def _follow(self, names: tuple[Name, ...]) -> tuple[Name, ...]:
        return () if self._windowed.intersection(names) else names


def _entries(parts: Iterable[_BlockPanel]) -> tuple[Name, ...]:
    """Names of the places of parts in the operand buffer."""
    return tuple(("operand", *part) for part in parts)
