# SPDX-License-Identifier: BSD-2-Clause
"""A router: which buffer's flits can go to which output."""

from docs.figures.drawing import Drawing
from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.network import routing

__all__ = ["draw"]

#: Place of each output: kind ("eject" or "link") and number.
_Columns = dict[tuple[str, int], int]

#: Tone of each virtual channel.
_TONES = ("compute", "memory", "network", "control")
_TOP, _PITCH, _GAP = 118, 19, 14
_FIRST, _COLUMN = 404, 64


def draw() -> Drawing:
    """A router of preset ``cora``; the paths are those that ``routing`` can use."""
    config = PRESETS["cora"]
    drawing = Drawing(800, 664, "A router: input buffers, the outputs each can use, an arbiter at "
                                "each output")
    sides = routing.arrivals(config.dimensions)
    outputs = [*(("eject", port) for port in range(config.eject)),
               *(("link", dimension) for dimension in range(config.dimensions))]
    columns = {output: _FIRST + _COLUMN * number for number, output in enumerate(outputs)}
    height = config.planes * _PITCH
    bottom = _TOP + len(sides) * (height + _GAP) + 6
    drawing.text(24, 34, "virtual channel (plane)", bold=True)
    for plane in range(config.planes):
        order = ", ".join(map(str, routing.dimension_order(plane, config.dimensions)))
        drawing.dot(196 + 148 * plane, 30, 5, _TONES[plane])
        drawing.text(206 + 148 * plane, 34, f"{plane}: order {order}")
    drawing.text(24, 100, "comes from", bold=True)
    drawing.text(212, 84, "input unit:", bold=True)
    drawing.text(212, 100, "a buffer per plane", muted=True, size=11)
    drawing.text(_FIRST + _COLUMN * (len(outputs) - 1) / 2, 66, "can leave through", bold=True,
                 anchor="middle")
    for (kind, number), x in columns.items():
        drawing.line((x, _TOP - 8), (x, bottom), tone="plain")
        drawing.text(x, 100, f"{'port' if kind == 'eject' else 'link'} {number}", anchor="middle")
    for number, side in enumerate(sides):
        _side(drawing, _TOP + number * (height + _GAP), side, columns, config)
    _outputs(drawing, bottom, columns)
    return drawing


def _side(drawing: Drawing, top: float, side: int | None, columns: _Columns,
          config: Config) -> None:
    """What comes from one side: a buffer for each plane, and its paths."""
    name, source = ("injection", "") if side is None else (
        f"link {side}", "rtl/network/link_input.py")
    box = drawing.box(24, top + 10, 96, config.planes * _PITCH - 20, (
        name, "this core" if side is None else "a neighbour"), source=source)
    for plane in range(config.planes):
        y, tone = top + _PITCH * (plane + 0.5), _TONES[plane]
        drawing.line((box.right, box.centre), (152, box.centre), (152, y), (212, y), end=True)
        for place in range(config.buffer_depth):
            drawing.box(212 + 26 * place, y - 7, 26, 14, tone=tone, radius=1,
                        source="rtl/network/input_buffer.py")
        ways = [("eject", plane % config.eject), *(
            ("link", dimension) for dimension in routing.outputs(plane, side, config.dimensions))]
        drawing.line((212 + 26 * config.buffer_depth, y), (max(columns[way] for way in ways), y),
                     tone=tone)
        for way in ways:
            drawing.dot(columns[way], y, 4.5, tone)


def _outputs(drawing: Drawing, top: float, columns: _Columns) -> None:
    """An arbiter and what lies behind it, for each output."""
    drawing.text(24, top + 25, "switch allocator: an arbiter per output,", bold=True)
    drawing.text(24, top + 41, "older flits first", muted=True)
    drawing.text(24, top + 67, "ejection ports, links with credits", bold=True)
    for (kind, _), x in columns.items():
        drawing.line((x, top), (x, top + 14), end=True)
        drawing.box(x - 29, top + 14, 58, 26, ("arbiter",), heading=False, size=11,
                    source="rtl/lib/priority_arbiter.py")
        drawing.line((x, top + 40), (x, top + 54))
        drawing.box(x - 29, top + 54, 58, 26, (
            "port" if kind == "eject" else "link",), heading=False, size=11, tone="result",
            source=f"rtl/network/{'ejection_port' if kind == 'eject' else 'link_output'}.py")
