# SPDX-License-Identifier: BSD-2-Clause
"""Rectangles that fill a place, and the drawing they are for."""

from pathlib import Path

import pytest

from hypercast.host.eda.chip_area import ChipArea
from hypercast.host.eda.families import Area
from hypercast.host.eda.treemap import draw_treemap, squarify
from hypercast.host.files.picture import picture


@pytest.mark.parametrize("place", [(0, 0, 6, 4), (1, 2, 4, 6), (0, 0, 1, 1)])
def test_rectangles_fill_the_place(place):
    sizes = [6, 6, 4, 3, 2, 2, 1]
    left, low, width, height = place
    found = squarify(sizes, place)
    for size, (x, y, w, h) in zip(sizes, found, strict=True):
        assert w * h == pytest.approx(size / sum(sizes) * width * height)
        assert left <= x and x + w <= left + width + 1e-9
        assert low <= y and y + h <= low + height + 1e-9
    for number, (x, y, w, h) in enumerate(found):
        for p, q, r, s in found[:number]:
            assert min(x + w, p + r) - max(x, p) < 1e-9 or min(y + h, q + s) - max(y, q) < 1e-9


def test_the_example_of_the_paper():
    """Figure 4 of Bruls, Huizing and van Wijk: 6, 6, 4, 3, 2, 2, 1 in a place of 6 by 4."""
    found = squarify([6, 6, 4, 3, 2, 2, 1], (0, 0, 6, 4))
    assert [(round(w, 2), round(h, 2)) for _, _, w, h in found] == [
        (3, 2), (3, 2), (1.71, 2.33), (1.29, 2.33), (1.2, 1.67), (1.2, 1.67), (0.6, 1.67)]


def test_nothing():
    assert squarify([], (0, 0, 1, 1)) == []


def test_drawing():
    area = ChipArea(cores=2, blocks={
        "array.feed": Area(luts=50), "wires of array": Area(luts=10), "rows": Area(),
        "vector": Area(luts=300, ram_luts=20)}, control=Area(luts=40))
    figure = draw_treemap(area, r"a chip of $\frac$")
    text = picture(figure, Path("map.svg")).decode()
    assert "a chip" in text and "vector" in text
    assert "80.0%" in text  # 2 times 320, of 2 times 380 and 40
