"""The pipeline of a training step, as it was recorded on the simulated chip."""

from docs.figures.drawing import Drawing, text_width
from docs.figures.recording import read
from hypercast.rtl.isa import Engine

__all__ = ["draw"]

#: Tone of each kind of phase.
_TONES = {"forward": "compute", "loss": "result", "backward": "network", "update": "memory"}
_LEFT, _WIDTH = 122, 654
_ROW, _BAR = 34, 24
#: Cycles that the second part shows.
_BEGINNING = 740


def draw() -> Drawing:
    """The whole step above, its beginning below."""
    recorded = read()
    cycles, slices = recorded["cycles"], recorded["slices"]
    drawing = Drawing(800, 446, "When the engines of a core are busy in a training step")
    drawing.text(24, 34, f"A training step, {cycles:,} cycles", size=14, bold=True)
    drawing.legend(430, 34, [(tone, kind) for kind, tone in _TONES.items()])
    _axis(drawing, 46, len(Engine), cycles, 1000)
    for engine, start, end, _, _, phase in slices:
        tone = _TONES[phase.partition(" ")[0]]
        y = _top(46, Engine[engine])
        drawing.bar(_place(start, cycles), y, max(_place(end, cycles) - _place(start, cycles) - 0.6,
                                                  0.6), _BAR, tone)
    shown = (Engine.AGGREGATE, Engine.ARRAY, Engine.VECTOR)
    drawing.text(24, 272, f"Its first {_BEGINNING:,} cycles", size=14, bold=True)
    drawing.text(_LEFT + 120, 272, "tensor and panel that an instruction works on",
                 size=11, muted=True)
    _axis(drawing, 284, len(shown), _BEGINNING, 100)
    for name, start, end, opcode, subject, phase in slices:
        if Engine[name] in shown and start < _BEGINNING:
            x, y = _place(start, _BEGINNING), _top(284, Engine[name])
            width = _place(min(end, _BEGINNING), _BEGINNING) - x - 1
            lines = [line for line in (opcode, subject) if text_width(line, 9) + 8 <= width]
            drawing.box(x, y, width, _BAR, lines if subject in lines else (), size=9,
                        heading=False, radius=2, tone=_TONES[phase.partition(" ")[0]])
    drawing.text(24, 430, "T1 7: panel 7 of T1, the features times the weights W1. H1: the layer's "
                 "output.", size=11, muted=True)
    return drawing


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
