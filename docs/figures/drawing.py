# SPDX-License-Identifier: BSD-2-Clause
"""A picture in SVG: boxes, lines, arrows and text, for light and dark pages."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Box", "Drawing", "text_width"]

#: Colours on light and on dark pages: of text, of what is hollow, and of what is of a kind, strong
#: and soft. Viewers that know no style sheets take those for light pages.
COLOURS = {
    "ink": ("#1f2933", "#dfe4e9"), "muted": ("#56626e", "#9aa7b3"),
    "hollow": ("#ffffff", "#131416"),
    "plain": ("#8b97a3", "#7d8894"), "plain-soft": ("#f3f5f7", "#252a30"),
    "compute": ("#3c78b8", "#6ba6e0"), "compute-soft": ("#e3eefb", "#16283a"),
    "memory": ("#38895a", "#57b282"), "memory-soft": ("#e1f3e7", "#132d20"),
    "network": ("#c26a2a", "#e0924f"), "network-soft": ("#fdecdd", "#38230f"),
    "control": ("#7a58b2", "#a98ae0"), "control-soft": ("#eee8f8", "#2a2140"),
    "result": ("#a5851b", "#d3b04c"), "result-soft": ("#fbf3d3", "#332b10"),
}
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


def _painted(fill: str | None = None, stroke: str | None = None) -> dict[str, object]:
    """Attributes for keys of ``COLOURS``: the colours of light pages, and classes for dark ones."""
    colours = {"fill": fill, "stroke": stroke}
    return {**{kind: COLOURS[name][0] if name else None for kind, name in colours.items()},
            "class": " ".join(f"{kind}-{name}" for kind, name in colours.items() if name)}


def _dark(text: str) -> str:
    """The style sheet for dark pages, with the classes that occur in a text."""
    rules = "".join(
        f".{kind}-{name}{{{kind}:{dark}}}" for name, (_, dark) in COLOURS.items()
        for kind in ("fill", "stroke") if re.search(rf"[ \"]{kind}-{name}[ \"]", text))
    return f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"


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
            A key of ``COLOURS`` that has a soft one.
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
        shape = {"x": _number(x), "y": _number(y), "width": _number(width),
                 "height": _number(height), "rx": _number(radius),
                 **_painted(None if dashed else f"{tone}-soft", tone),
                 "stroke_dasharray": "5 4" if dashed else None}
        if dashed:
            shape["fill"] = "none"
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
            **_painted(tone)}) + "/>")

    def dot(self, x: float, y: float, radius: float, tone: str, hollow: bool = False) -> None:
        """A disc, or only its edge."""
        self._parts.append("<circle" + _attributes({
            "cx": _number(x), "cy": _number(y), "r": _number(radius),
            **_painted("hollow" if hollow else tone, tone)}) + "/>")

    def area(self, corners: Iterable[tuple[float, float]], tone: str) -> None:
        """A filled polygon without an edge."""
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in corners)
        self._polygon(points, f"{tone}-soft")

    def _polygon(self, points: str, colour: str) -> None:
        self._parts.append(f'<polygon points="{points}"{_attributes(_painted(colour))}/>')

    def text(self, x: float, y: float, text: str, *, size: float = 12, anchor: str = "start",
             bold: bool = False, muted: bool = False) -> None:
        """A line of text; ``y`` is its base line, ``anchor`` is start, middle or end."""
        self._parts.append("<text" + _attributes({
            "x": _number(x), "y": _number(y), "font_size": _number(size),
            "text_anchor": None if anchor == "start" else anchor,
            "font_weight": "bold" if bold else None,
            **_painted("muted" if muted else "ink")})
            + f">{escape(text, quote=False)}</text>")

    def line(self, *points: tuple[float, float], tone: str = "plain", width: float = 1.5,
             dashed: bool = False, start: bool = False, end: bool = False) -> None:
        """A line through points, with arrowheads at its ``start`` or ``end``."""
        places, heads = list(points), []
        for wanted, tip, before in ((start, 0, 1), (end, -1, -2)):
            if wanted:
                corners, base = _head(places[before], places[tip], 3.2 + width)
                heads.append(corners)
                places[tip] = base
        route = " ".join(f"{_number(x)},{_number(y)}" for x, y in places)
        self._parts.append(
            f'<polyline points="{route}"' + _attributes({
                **_painted(stroke=tone), "fill": "none", "stroke_width": _number(width),
                "stroke_linejoin": "round", "stroke_dasharray": "5 4" if dashed else None}) + "/>")
        for corners in heads:
            self._polygon(" ".join(f"{_number(x)},{_number(y)}" for x, y in corners), tone)

    def route(self, *points: tuple[float, float], tone: str, width: float = 1.5,
              radius: float = 10) -> None:
        """A line through points, with rounded corners."""
        parts = [f"M{_place(points[0])}"]
        for before, corner, after in zip(points, points[1:], points[2:], strict=False):
            entry, leave = _towards(corner, before, radius), _towards(corner, after, radius)
            parts.append(f"L{_place(entry)} Q{_place(corner)} {_place(leave)}")
        parts.append(f"L{_place(points[-1])}")
        self._parts.append("<path" + _attributes({
            "d": " ".join(parts), **_painted(stroke=tone), "fill": "none",
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
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
            f'width="{_number(self.width)}" height="{_number(self.height)}" role="img" '
            f'font-family="{FONT}">',
            f"<title>{escape(self._title)}</title>", _dark("".join(self._parts)),
            *self._parts, "</svg>", ""])


def _head(before: tuple[float, float], tip: tuple[float, float], size: float) -> tuple[
        list[tuple[float, float]], tuple[float, float]]:
    """Corners of an arrowhead at ``tip``, and where its line ends."""
    length = math.dist(before, tip)
    x, y = (tip[0] - before[0]) / length, (tip[1] - before[1]) / length
    base = tip[0] - 2 * size * x, tip[1] - 2 * size * y
    return [tip, (base[0] - size * y, base[1] + size * x),
            (base[0] + size * y, base[1] - size * x)], (base[0] + x, base[1] + y)
