"""Drawings are SVG, and text stays in its box."""

from xml.etree import ElementTree

import pytest

from docs.figures.drawing import Drawing, text_width

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_has_a_ground_and_a_title():
    drawing = Drawing(200, 100, "What <it> shows")
    root = ElementTree.fromstring(drawing.svg())
    assert (root.get("width"), root.get("viewBox")) == ("200", "0 0 200 100")
    assert root.find(f"{SVG}title").text == "What <it> shows"
    ground = root.find(f"{SVG}rect")
    assert (ground.get("fill"), ground.get("width")) == ("#ffffff", "199")


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
