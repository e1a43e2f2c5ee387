# SPDX-License-Identifier: BSD-2-Clause
"""The pipeline of a training step, as it was recorded on the simulated chip."""

from docs.figures.drawing import Drawing, text_width
from docs.figures.recording import Slice, read
from hypercast.host.compiler.phase_name import PhaseKind, PhaseName
from hypercast.rtl.isa import Engine

__all__ = ["draw"]

#: Tone of each kind of phase.
_TONES = {PhaseKind.FORWARD: "compute", PhaseKind.LOSS: "result", PhaseKind.BACKWARD: "network",
          PhaseKind.UPDATE: "memory"}
_LEFT, _WIDTH = 122, 654
_ROW, _BAR = 34, 24
#: Cycles that the second part shows.
_BEGINNING = 740


def draw() -> Drawing:
    """The whole step above, its beginning below."""
    cycles, slices = read()
    drawing = Drawing(800, 446, "When the engines of a core are busy in a training step")
    drawing.text(24, 34, f"A training step, {cycles:,} cycles", size=14, bold=True)
    drawing.legend(430, 34, [(tone, kind) for kind, tone in _TONES.items()])
    _axis(drawing, 46, len(Engine), cycles, 1000)
    for one in slices:
        x = _place(one.start, cycles)
        drawing.bar(x, _top(46, Engine[one.engine]), max(_place(one.end, cycles) - x - 0.6, 0.6),
                    _BAR, _tone(one))
    shown = (Engine.AGGREGATE, Engine.ARRAY, Engine.VECTOR)
    drawing.text(24, 272, f"Its first {_BEGINNING:,} cycles", size=14, bold=True)
    drawing.text(_LEFT + 120, 272, "tensor and panel that an instruction works on",
                 size=11, muted=True)
    _axis(drawing, 284, len(shown), _BEGINNING, 100)
    for one in slices:
        if Engine[one.engine] in shown and one.start < _BEGINNING:
            x, y = _place(one.start, _BEGINNING), _top(284, Engine[one.engine])
            width = _place(min(one.end, _BEGINNING), _BEGINNING) - x - 1
            lines = [line for line in (one.opcode, one.subject)
                     if text_width(line, 9) + 8 <= width]
            drawing.box(x, y, width, _BAR, lines if one.subject in lines else (), size=9,
                        heading=False, radius=2, tone=_tone(one))
    drawing.text(24, 430, "T1 7: panel 7 of T1, the features times the weights W1. H1: the layer's "
                 "output.", size=11, muted=True)
    return drawing


def _tone(one: Slice) -> str:
    return _TONES[PhaseName.read(one.phase).kind]


def _place(cycle: int, cycles: int) -> float:
    return _LEFT + _WIDTH * cycle / cycles


def _top(top: float, engine: Engine) -> float:
    return top + _ROW * engine + (_ROW - _BAR) / 2


def _axis(drawing: Drawing, top: float, rows: int, cycles: int, tick: int) -> None:
    """Names of the engines, and cycles below."""
    bottom = top + _ROW * rows
    for cycle in range(0, cycles + 1, tick):
        x = _place(cycle, cycles)
        drawing.line((x, top), (x, bottom + 4), width=0.4)
        drawing.text(x, bottom + 17, f"{cycle:,}", size=10, anchor="middle", muted=True)
    for engine in list(Engine)[:rows]:
        y = top + _ROW * engine
        drawing.text(_LEFT - 10, y + 21, engine.name, size=11, anchor="end")
        drawing.line((_LEFT, y + _ROW), (_LEFT + _WIDTH, y + _ROW), width=0.4)
