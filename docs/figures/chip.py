# SPDX-License-Identifier: BSD-2-Clause
"""The chip: sixteen cores on the hypercube, the control unit, and two memory channels a core."""

from docs.figures.drawing import Box, Drawing
from hypercast.rtl.config import Config
from hypercast.rtl.network.topology import links, neighbour

__all__ = ["draw"]

_WIDTH, _LEFT, _TOP = 124, 74, 92
_COLUMN, _ROW, _HEIGHT = 176, 124, 76
#: Two-bit Gray code: from each number to the next, and from the last to the first, one bit changes.
_GRAY = (0, 1, 3, 2)
_TONES = ("compute", "memory", "network", "control")


def draw() -> Drawing:
    """The default configuration: rows and columns in Gray code, so that neighbours are close."""
    config = Config()
    drawing = Drawing(800, 692, f"{config.cores} cores on a {config.dimensions}-D hypercube, "
                                "each with two memory channels, and one control unit")
    places = {row << 2 | column: (x, y) for y, row in enumerate(_GRAY)
              for x, column in enumerate(_GRAY)}
    cores = {core: Box(_LEFT + x * _COLUMN, _TOP + y * _ROW, _WIDTH, _HEIGHT)
             for core, (x, y) in places.items()}
    drawing.box(22, 46, 756, 518, dashed=True, radius=8)
    drawing.text(34, 66, f"{config.cores} cores, all of them the same module; each has two memory "
                         "channels of its own", size=12, bold=True)
    for core, dimension in links(config.dimensions):
        other = neighbour(core, dimension)
        if core < other:
            _link(drawing, cores[core], cores[other], _TONES[dimension])
    for core, box in cores.items():
        _core(drawing, core, box, config)
    _control(drawing)
    drawing.text(22, 30, "links along dimension", size=12, bold=True)
    for dimension in range(config.dimensions):
        x = 190 + 62 * dimension
        drawing.line((x, 26), (x + 26, 26), tone=_TONES[dimension], width=2.5)
        drawing.text(x + 33, 30, str(dimension))
    drawing.text(778, 30, "each link: one flit per cycle each way", anchor="end", muted=True)
    return drawing


def _link(drawing: Drawing, one: Box, other: Box, tone: str) -> None:
    """A link between two cores: straight to the next one, else around those between."""
    left, right = sorted((one, other))
    if left.y == right.y:
        if right.x - left.x == _COLUMN:
            drawing.line((left.right, left.centre), (right.x, left.centre), tone=tone, width=2.5)
        else:
            y = left.y - 17
            drawing.route((left.middle + 18, left.y), (left.middle + 18, y),
                          (right.middle - 18, y), (right.middle - 18, right.y),
                          tone=tone, width=2.5)
    elif right.y - left.y == _ROW:
        drawing.line((left.middle, left.bottom), (left.middle, right.y), tone=tone, width=2.5)
    else:
        x = left.x - 18
        drawing.route((left.x, left.centre + 6), (x, left.centre + 6), (x, right.centre - 6),
                      (right.x, right.centre - 6), tone=tone, width=2.5)


def _core(drawing: Drawing, core: int, box: Box, config: Config) -> None:
    drawing.box(*box, source="rtl/core.py")
    drawing.text(box.x + 10, box.y + 21, f"core {core}", size=14, bold=True)
    drawing.text(box.right - 10, box.y + 21, f"{core:0{config.dimensions}b}", anchor="end",
                 muted=True)
    for channel in range(2):
        drawing.box(box.x + 8 + 56 * channel, box.y + 34, 52, 34, ("channel", str(channel)),
                    tone="memory", size=10, heading=False, radius=3)


def _control(drawing: Drawing) -> None:
    drawing.box(200, 602, 400, 74, (
        "control unit",
        "program memory, controller, exponent file,",
        "window into memories and counters"), tone="control",
        size=14, source="rtl/control/control_unit.py")
    drawing.box(30, 614, 84, 50, ("host", "driver"), size=13, source="host/runtime/driver.py")
    drawing.line((114, 639), (200, 639), tone="control", start=True, end=True)
    drawing.text(157, 631, "AXI4-Lite", size=11, anchor="middle", muted=True)
    drawing.line((330, 602), (330, 564), tone="control", end=True, width=3)
    drawing.text(318, 588, "instructions, the same for all", size=11, anchor="end", muted=True)
    drawing.line((470, 564), (470, 602), tone="control", end=True, width=3)
    drawing.text(484, 588, "engines at work, peaks, errors", size=11, muted=True)
