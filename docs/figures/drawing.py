"""A picture in SVG: boxes, lines, arrows and text, on a ground of its own."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Box", "Drawing", "text_width"]

#: Fill and stroke of what is of a kind.
TONES = {
    "plain": ("#f3f5f7", "#8b97a3"),
    "compute": ("#e3eefb", "#3c78b8"),
    "memory": ("#e1f3e7", "#38895a"),
    "network": ("#fdecdd", "#c26a2a"),
    "control": ("#eee8f8", "#7a58b2"),
    "result": ("#fbf3d3", "#a5851b"),
}
INK, MUTED, GROUND, BORDER = "#1f2933", "#56626e", "#ffffff", "#d0d7de"
FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
#: Mean width of a character, as a part of the font's size: that of the widest usual font.
_CHARACTER, _BOLD = 0.57, 0.64
#: Free space beside text in a box.
_PADDING = 4


def text_width(text: str, size: float = 12, bold: bool = False) -> float:
    """About how wide a line of text gets; rather too much than too little."""
    return len(text) * size * (_BOLD if bold else _CHARACTER)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _place(point: tuple[float, float]) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _towards(corner: tuple[float, float], other: tuple[float, float],
             distance: float) -> tuple[float, float]:
    """The point at a distance from a corner on the way to another one."""
    part = distance / math.dist(corner, other)
    return corner[0] + part * (other[0] - corner[0]), corner[1] + part * (other[1] - corner[1])


def _attributes(values: Mapping[str, object]) -> str:
    return "".join(f' {name.replace("_", "-")}="{escape(str(value))}"'
                   for name, value in values.items() if value is not None)


class Box(NamedTuple):
    """Where a box is.

    Attributes
    ----------
    x, y, width, height : float
        Left upper corner and size.
    """

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Middle from left to right."""
        return self.x + self.width / 2

    @property
    def centre(self) -> float:
        """Middle from top to bottom."""
        return self.y + self.height / 2

    @property
    def right(self) -> float:
        """Right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.y + self.height


class Drawing:
    """A picture that grows part by part; what is drawn later lies on top.

    Parameters
    ----------
    width, height : float
        Size in pixels.
    title : str
        What it shows, for those who cannot see it.
    """

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self._title = width, height, title
        self._parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, lines: Sequence[str] = (), *,
            tone: str = "plain", size: float = 12, heading: bool = True, radius: float = 5,
            dashed: bool = False, source: str = "") -> Box:
        """A box with lines of text in its middle, the first one bold.

        Parameters
        ----------
        x, y, width, height : float
            Left upper corner and size.
        lines : sequence of str
            Text; without ``heading``, none of it is bold.
        tone : str
            A key of ``TONES``.
        size : float
            Size of the first line's letters; the others are a little smaller.
        radius : float
            Radius of the corners.
        dashed : bool
            Whether it only surrounds others: a dashed frame without fill.
        source : str
            Path of the file that it stands for, shown when the mouse is over it.

        Raises
        ------
        ValueError
            If the text does not fit into the box.
        """
        fill, stroke = TONES[tone]
        shape = {"x": _number(x), "y": _number(y), "width": _number(width),
                 "height": _number(height), "rx": _number(radius),
                 "fill": "none" if dashed else fill, "stroke": stroke,
                 "stroke_dasharray": "5 4" if dashed else None}
        self._parts.append(f"<g><title>{escape(source)}</title>" if source else "<g>")
        self._parts.append(f"<rect{_attributes(shape)}/>")
        sizes = [size if heading and not number else size - heading for number in
                 range(len(lines))]
        spacing = [1.3 * one for one in sizes]
        if lines and sum(spacing) > height:
            raise ValueError(f"{len(lines)} lines do not fit into a box {height} high: {lines}")
        baseline = y + (height - sum(spacing)) / 2
        for number, (line, one) in enumerate(zip(lines, sizes, strict=True)):
            bold = heading and not number
            needed = text_width(line, one, bold) + 2 * _PADDING
            if needed > width:
                raise ValueError(f"{line!r} needs {needed:.0f} pixels, but its box has {width}")
            self.text(x + width / 2, baseline + 0.97 * one, line, size=one, anchor="middle",
                      bold=bold)
            baseline += spacing[number]
        self._parts.append("</g>")
        return Box(x, y, width, height)

    def bar(self, x: float, y: float, width: float, height: float, tone: str) -> None:
        """A rectangle in the strong colour of a tone."""
        self._parts.append("<rect" + _attributes({
            "x": _number(x), "y": _number(y), "width": _number(width), "height": _number(height),
            "fill": TONES[tone][1]}) + "/>")

    def dot(self, x: float, y: float, radius: float, tone: str, hollow: bool = False) -> None:
        """A disc, or only its edge."""
        colour = TONES[tone][1]
        self._parts.append("<circle" + _attributes({
            "cx": _number(x), "cy": _number(y), "r": _number(radius),
            "fill": GROUND if hollow else colour, "stroke": colour}) + "/>")

    def area(self, corners: Iterable[tuple[float, float]], tone: str) -> None:
        """A filled polygon without an edge."""
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in corners)
        self._parts.append(f'<polygon points="{points}" fill="{TONES[tone][0]}"/>')

    def text(self, x: float, y: float, text: str, *, size: float = 12, anchor: str = "start",
             bold: bool = False, muted: bool = False) -> None:
        """A line of text; ``y`` is its base line, ``anchor`` is start, middle or end."""
        self._parts.append("<text" + _attributes({
            "x": _number(x), "y": _number(y), "font_size": _number(size),
            "text_anchor": None if anchor == "start" else anchor,
            "font_weight": "bold" if bold else None, "fill": MUTED if muted else INK})
            + f">{escape(text, quote=False)}</text>")

    def line(self, *points: tuple[float, float], tone: str = "plain", width: float = 1.5,
             dashed: bool = False, start: bool = False, end: bool = False) -> None:
        """A line through points, with arrowheads at its ``start`` or ``end``."""
        colour, places = TONES[tone][1], list(points)
        heads = []
        for wanted, tip, before in ((start, 0, 1), (end, -1, -2)):
            if wanted:
                corners, base = _head(places[before], places[tip], 3.2 + width)
                heads.append(corners)
                places[tip] = base
        route = " ".join(f"{_number(x)},{_number(y)}" for x, y in places)
        self._parts.append(
            f'<polyline points="{route}"' + _attributes({
                "fill": "none", "stroke": colour, "stroke_width": _number(width),
                "stroke_linejoin": "round", "stroke_dasharray": "5 4" if dashed else None}) + "/>")
        for corners in heads:
            head = " ".join(f"{_number(x)},{_number(y)}" for x, y in corners)
            self._parts.append(f'<polygon points="{head}" fill="{colour}"/>')

    def route(self, *points: tuple[float, float], tone: str, width: float = 1.5,
              radius: float = 10) -> None:
        """A line through points, with rounded corners."""
        parts = [f"M{_place(points[0])}"]
        for before, corner, after in zip(points, points[1:], points[2:], strict=False):
            entry, leave = _towards(corner, before, radius), _towards(corner, after, radius)
            parts.append(f"L{_place(entry)} Q{_place(corner)} {_place(leave)}")
        parts.append(f"L{_place(points[-1])}")
        self._parts.append("<path" + _attributes({
            "d": " ".join(parts), "fill": "none", "stroke": TONES[tone][1],
            "stroke_width": _number(width)}) + "/>")

    def legend(self, x: float, y: float, entries: Iterable[tuple[str, str]]) -> None:
        """What tones mean, side by side: (tone, meaning) pairs."""
        for tone, meaning in entries:
            self.box(x, y - 10, 14, 12, tone=tone, radius=2)
            self.text(x + 20, y, meaning, size=11, muted=True)
            x += 20 + text_width(meaning, 11) + 14

    def svg(self) -> str:
        """The picture as the text of an SVG file."""
        size = f"{_number(self.width)} {_number(self.height)}"
        ground = {"x": 0.5, "y": 0.5, "width": _number(self.width - 1),
                  "height": _number(self.height - 1), "rx": 8, "fill": GROUND, "stroke": BORDER}
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
            f'width="{_number(self.width)}" height="{_number(self.height)}" role="img" '
            f'font-family="{FONT}">',
            f"<title>{escape(self._title)}</title>", f"<rect{_attributes(ground)}/>",
            *self._parts, "</svg>", ""])


def _head(before: tuple[float, float], tip: tuple[float, float], size: float) -> tuple[
        list[tuple[float, float]], tuple[float, float]]:
    """Corners of an arrowhead at ``tip``, and where its line ends."""
    length = math.dist(before, tip)
    x, y = (tip[0] - before[0]) / length, (tip[1] - before[1]) / length
    base = tip[0] - 2 * size * x, tip[1] - 2 * size * y
    return [tip, (base[0] - size * y, base[1] + size * x),
            (base[0] + size * y, base[1] - size * x)], (base[0] + x, base[1] + y)
