# SPDX-License-Identifier: BSD-2-Clause
"""Draws a chip's share of an FPGA: rectangles, as large as its blocks.

The layout is a squarified treemap (Bruls, Huizing and van Wijk, VisSym 2000).
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from hypercast.host.eda.chip_area import ChipArea
from hypercast.host.files.picture import drawn_text

__all__ = ["draw_treemap", "squarify"]

#: Left edge, lower edge, width and height.
Place: TypeAlias = tuple[float, float, float, float]
#: A label needs that share of the figure's width for each character, and of its height.
_CHARACTER, _LINE = 0.0068, 0.022


def squarify(sizes: Sequence[float], place: Place) -> list[Place]:
    """Rectangles that fill a place, as near to squares as rows of them can be.

    Parameters
    ----------
    sizes : sequence of float
        What the rectangles' areas are proportional to, the largest first; none is zero.
    place : Place
        What they fill.
    """
    left, low, width, height = place
    scale = width * height / sum(sizes) if sizes else 0
    areas = [size * scale for size in sizes]
    found: list[Place] = []
    while areas:
        side = min(width, height)
        count = 1
        while count < len(areas) and _worst(areas[:count + 1], side) <= _worst(areas[:count], side):
            count += 1
        row, areas = areas[:count], areas[count:]
        depth = sum(row) / side
        begin = 0.0
        for area in row:
            length = area / depth
            found.append((left, low + begin, depth, length) if width >= height
                         else (left + begin, low, length, depth))
            begin += length
        if width >= height:
            left, width = left + depth, width - depth
        else:
            low, height = low + depth, height - depth
    return found


def _worst(row: Sequence[float], side: float) -> float:
    """The largest ratio of the sides of a row's rectangles, along a side."""
    total = sum(row)
    return max(side**2 * max(row) / total**2, total**2 / (side**2 * min(row)))


def draw_treemap(area: ChipArea, title: str) -> Figure:
    """Draw the LUTs of all cores' blocks and the control unit; blocks of a block have its colour.

    Parameters
    ----------
    area : ChipArea
        What they take.
    title : str
        Title of the drawing.
    """
    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots()
    axes.set(title=drawn_text(title), xlim=(0, 1), ylim=(0, 1))
    axes.axis("off")
    groups: dict[str, dict[str, float]] = {}
    for name, block in area.blocks.items():
        group = name.removeprefix("wires of ").partition(".")[0]
        groups.setdefault(group, {})[name] = block.tally["LUT"] * area.cores
    groups["control unit"] = {"control unit": area.control.tally["LUT"]}
    sums = {name: sum(sizes.values()) for name, sizes in groups.items()}
    order = sorted((name for name in groups if sums[name]), key=lambda name: -sums[name])
    colours = colormaps["tab20"].colors  # type: ignore[attr-defined]
    places = squarify([sums[name] for name in order], (0, 0, 1, 1))
    for number, (name, place) in enumerate(zip(order, places, strict=True)):
        _draw_group(axes, groups[name], place, colours[number % len(colours)], sum(sums.values()))
    return figure


def _draw_group(axes: Axes, sizes: Mapping[str, float], place: Place,
                colour: tuple[float, float, float], total: float) -> None:
    order = sorted((name for name in sizes if sizes[name]), key=lambda name: -sizes[name])
    for name, (left, low, width, height) in zip(
            order, squarify([sizes[name] for name in order], place), strict=True):
        axes.add_patch(Rectangle((left, low), width, height, facecolor=colour, edgecolor="white"))
        label = f"{name}\n{sizes[name] / total:.1%}"
        longest = max(map(len, label.splitlines()))
        if width > longest * _CHARACTER and height > 2 * _LINE:
            axes.text(left + width / 2, low + height / 2, drawn_text(label), ha="center",
                      va="center", fontsize=8)
