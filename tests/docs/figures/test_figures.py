"""Figures: those that are kept are those that the code draws."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.figures import recording
from docs.figures.catalogue import FIGURES, path_of
from tests.docs.named_paths import exists
from tests.packaging.source_tree import imports

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("name", FIGURES)
def test_kept_figures_are_drawn_so(name):
    assert path_of(name).read_text() == FIGURES[name]().svg(), "python -m docs.figures"


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_on_a_page(name):
    assert any(f"figures/{name}.svg)" in page.read_text() for page in PAGES)


@pytest.mark.parametrize("name", FIGURES)
def test_files_named_in_figures_exist(name):
    for text in ElementTree.parse(path_of(name)).getroot().itertext():
        for path in re.findall(r"[\w/]+\.py|(?:host|rtl|reference)/\w+", text):
            assert exists(path), path


def test_the_core_has_the_blocks_of_its_source():
    drawn = set(re.findall("<title>(rtl/[^<]*)</title>", path_of("core").read_text()))
    blocks = {name.removeprefix("hypercast.").replace(".", "/") + ".py"
              for name in imports(Path("rtl/core.py"))}
    # Both kinds of memory channels are drawn as channels; the clock of ages is not drawn.
    others = {"rtl/isa.py", "rtl/layouts.py", "rtl/network/age.py", "rtl/memory/axi4.py",
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
