# SPDX-License-Identifier: BSD-2-Clause
"""Drawings are SVG, and text stays in its box."""

import re
from xml.etree import ElementTree

import pytest

from docs.figures.drawing import COLOURS, Drawing, text_width

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_has_a_title_and_no_ground():
    drawing = Drawing(200, 100, "What <it> shows")
    root = ElementTree.fromstring(drawing.svg())
    assert (root.get("width"), root.get("viewBox")) == ("200", "0 0 200 100")
    assert root.find(f"{SVG}title").text == "What <it> shows"
    assert root.find(f"{SVG}rect") is None


def test_all_colours_are_others_on_a_dark_page():
    drawing = Drawing(200, 100, "")
    drawing.box(10, 20, 80, 40, ("name", "more"), tone="memory")
    drawing.box(0, 0, 90, 90, tone="control", dashed=True)
    drawing.line((10, 50), (100, 50), end=True)
    drawing.dot(5, 5, 2, "network", hollow=True)
    drawing.area([(0, 0), (1, 0), (1, 1)], "result")
    drawing.route((0, 0), (50, 0), (50, 60), tone="compute")
    drawing.text(5, 5, "text", muted=True)
    root = ElementTree.fromstring(drawing.svg())
    style = root.find(f"{SVG}style").text
    assert style.startswith("@media (prefers-color-scheme: dark){")
    dark = dict(re.findall(r"\.([\w-]+)\{((?:fill|stroke):#\w{6})\}", style))
    used = set()
    for element in root.iter():
        for kind in ("fill", "stroke"):
            if (colour := element.get(kind, "none")) != "none":
                [name] = [one for one in element.get("class").split() if one.startswith(kind)]
                used.add(name)
                assert colour == COLOURS[name.partition("-")[2]][0]
                assert dark[name] == f"{kind}:{COLOURS[name.partition('-')[2]][1]}"
    assert used == {*dark}


def _luminance(colour):
    """Relative luminance, by the Web Content Accessibility Guidelines."""
    parts = (int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5))
    return sum(weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
               for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


@pytest.mark.parametrize(("page", "ground"), [(0, "#ffffff"), (1, "#131416"), (1, "#0d1117")])
def test_contrast(page, ground):
    """Text stands out from boxes and pages by 4.5 to 1, lines by 2.4 to 1."""
    def contrast(one, other):
        high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
        return (high + 0.05) / (low + 0.05)
    grounds = [ground, *(colours[page] for name, colours in COLOURS.items() if "soft" in name)]
    for name, colours in COLOURS.items():
        if "soft" in name or name == "hollow":
            continue
        least = 4.5 if name in ("ink", "muted") else 2.4
        for one in grounds:
            assert contrast(colours[page], one) >= least, (name, one)


def test_a_box_holds_its_text():
    drawing = Drawing(200, 100, "")
    box = drawing.box(10, 20, 80, 40, ("name", "a & b"), source="rtl/chip.py")
    assert (box.middle, box.centre, box.right, box.bottom) == (50, 40, 90, 60)
    group = ElementTree.fromstring(drawing.svg()).find(f"{SVG}g")
    assert [text.text for text in group.iter(f"{SVG}text")] == ["name", "a & b"]
    assert group.find(f"{SVG}title").text == "rtl/chip.py"
    for text in group.iter(f"{SVG}text"):
        assert box.y < float(text.get("y")) < box.bottom and float(text.get("x")) == box.middle


def test_text_that_does_not_fit_is_refused():
    drawing = Drawing(200, 100, "")
    with pytest.raises(ValueError, match=r"'a long name' needs \d+ pixels, but its box has 40"):
        drawing.box(0, 0, 40, 40, ("a long name",))
    with pytest.raises(ValueError, match="2 lines do not fit into a box 20 high"):
        drawing.box(0, 0, 90, 20, ("two", "lines"))
    assert text_width("bold", bold=True) > text_width("bold") > 0


def test_a_line_ends_in_its_arrowhead():
    drawing = Drawing(200, 100, "")
    drawing.line((10, 50), (100, 50), width=2, end=True)
    root = ElementTree.fromstring(drawing.svg())
    assert root.find(f"{SVG}polyline").get("points") == "10,50 90.6,50"
    assert root.find(f"{SVG}polygon").get("points").split()[0] == "100,50"


def test_a_route_turns_in_curves():
    drawing = Drawing(200, 100, "")
    drawing.route((0, 0), (50, 0), (50, 60), tone="network", radius=10)
    path = ElementTree.fromstring(drawing.svg()).find(f"{SVG}path")
    assert path.get("d") == "M0 0 L40 0 Q50 0 50 10 L50 60"
