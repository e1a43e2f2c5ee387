# SPDX-License-Identifier: BSD-2-Clause
"""Figures: those that are kept are those that the code draws."""

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.figures import recording
from docs.figures.catalogue import FIGURES, path_of
from docs.figures.drawing import text_width
from tests.docs.named_paths import exists
from tests.packaging.source_tree import imports

SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("name", FIGURES)
def test_kept_figures_are_drawn_so(name):
    assert path_of(name).read_text() == FIGURES[name]().svg(), "python -m docs.figures"


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_on_a_page(name):
    assert any(f"figures/{name}.svg)" in page.read_text() for page in PAGES)


def label_boxes(name):
    """Where the texts of a figure are: (text, left, top, right, bottom)."""
    for text in ElementTree.parse(path_of(name)).getroot().iter(f"{SVG}text"):
        size = float(text.get("font-size"))
        width = text_width(text.text, size, bold=text.get("font-weight") == "bold")
        left = float(text.get("x")) - width * {None: 0, "middle": 0.5, "end": 1}[
            text.get("text-anchor")]
        base = float(text.get("y"))
        yield text.text, left, base - 0.75 * size, left + width, base + 0.2 * size


@pytest.mark.parametrize("name", FIGURES)
def test_texts_stay_apart_and_inside(name):
    root = ElementTree.parse(path_of(name)).getroot()
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = list(label_boxes(name))
    for text, left, top, right, bottom in boxes:
        assert 0 < left and right < width and 0 < top and bottom < height, text
    for one, other in itertools.combinations(boxes, 2):
        apart = (one[3] <= other[1] or other[3] <= one[1] or one[4] <= other[2]
                 or other[4] <= one[2])
        assert apart, (one[0], other[0])


@pytest.mark.parametrize("name", FIGURES)
def test_files_named_in_figures_exist(name):
    for text in ElementTree.parse(path_of(name)).getroot().itertext():
        for path in re.findall(r"[\w/]+\.py|(?:host|rtl|reference)/\w+", text):
            assert exists(path), path


def test_the_core_has_the_blocks_of_its_source():
    drawn = set(re.findall("<title>(rtl/[^<]*)</title>", path_of("core").read_text()))
    blocks = {name.removeprefix("hypercast.").replace(".", "/") + ".py"
              for name in imports(Path("rtl/core.py"))}
    # Both kinds of memory channels are drawn as channels, of the host's ports that of every chip;
    # the clock of ages is not drawn.
    others = {"rtl/config.py", "rtl/isa.py", "rtl/layouts.py", "rtl/limits.py",
              "rtl/network/age.py", "rtl/control/bulk_host.py", "rtl/memory/axi4.py",
              "rtl/memory/axi_channel.py", "rtl/memory/simulated_channel.py"}
    assert drawn == {block for block in blocks if (ROOT / block).exists()} - others


def test_every_link_of_the_chip_is_drawn_once():
    text = path_of("chip").read_text()
    thick = text.count('stroke-width="2.5"')
    assert thick == 16 * 4 // 2 + 4  # and the four lines of the legend


def test_the_recording_is_kept_as_it_was_written():
    assert recording.text(recording.read()) == recording.RECORDING.read_text()


@pytest.mark.slow
def test_the_recording_can_be_made_again():
    assert recording.record() == recording.read(), "python -m docs.figures --record"
