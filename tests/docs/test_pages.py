# SPDX-License-Identifier: BSD-2-Clause
"""Pages: what they show in Python runs, and what they name exists."""

import ast
import importlib.util
import re
import tomllib
import types
from pathlib import Path

import numpy as np
import pytest
import yaml

from hypercast import Graph, Trainer
from hypercast.host.description.description import Description
from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.isa import Split

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page, language):
    """The code of a page in a language, block by block."""
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_python_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    block, *on_boards = blocks(page, "python")
    exec(compile(block, page, "exec"), {})
    accuracy = re.search(r"test accuracy ([\d.]+)%", capsys.readouterr().out)
    assert float(accuracy[1]) > 60
    assert len(on_boards) == (page == "docs/tutorial.md")
    for block in on_boards:
        pytest.importorskip("mpi4py")
        exec(compile(block, page, "exec"), {})
        assert "on these boards, by their cycles and links" in capsys.readouterr().out


def run_blocks(page, skip, **names):
    """Run the Python of a page, but for blocks with one of some texts."""
    for block in blocks(page, "python"):
        if not any(text in block for text in skip):
            exec(compile(block, page, "exec"), names)


def test_the_chip_is_alive_in_an_amaranth_design(capsys):
    run_blocks("docs/amaranth.md", ())
    assert capsys.readouterr().out == "the chip is alive\n"


def test_what_comes_from_pytorch_geometric(tmp_path, monkeypatch, capsys):
    """The page's code, with PyTorch Geometric where it is installed, else with a graph like its."""
    monkeypatch.chdir(tmp_path)
    if importlib.util.find_spec("torch_geometric"):
        run_blocks("docs/pyg.md", ())
        assert "accuracy there" in capsys.readouterr().out
    else:
        karate = Graph.load("karate")
        data = types.SimpleNamespace(
            x=karate.features, y=karate.labels, edge_index=np.stack(karate.edges.tocoo().coords),
            train_mask=karate.splits == Split.TRAIN, test_mask=karate.splits == Split.TEST)
        monkeypatch.setattr(Trainer, "save_weights", lambda self, path: None)  # needs PyTorch
        run_blocks("docs/pyg.md", ("torch.",), data=data)
        assert re.search(r"accuracy here \d", capsys.readouterr().out)


def test_the_readmes_example_is_short():
    [block] = blocks("README.md", "python")
    assert len([line for line in block.splitlines() if line.strip()]) <= 15


def test_the_tutorials_description_is_one():
    [block] = blocks("docs/tutorial.md", "toml")
    described = Description.of_sections(tomllib.loads(block))
    assert described.stopping.patience == 20
    [block] = blocks("docs/tutorial.md", "yaml")
    assert Description.of_sections(yaml.safe_load(block)).sections() == described.sections()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_test_plan_names_files_that_exist():
    named = re.findall(r"`(tests/[^`]*)`", (ROOT / "docs" / "test-plan.md").read_text())
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_configurations_are_those_of_today(page):
    known = [f"{config.hash:#010x}" for config in PRESETS.values()]
    for found in re.findall(r"configuration (0x[0-9a-f]{8})\b", page.read_text()):
        assert found in known, f"{found} is of no preset; of `tiny` it is {known[0]}"


def test_changes_begin_with_the_version_of_today():
    found = re.findall(r"`VERSION` is (\d+)", (ROOT / "CHANGELOG.md").read_text())
    assert int(found[0]) == INTERFACE_VERSION and len(set(found)) == len(found)


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text().split()
    for page in PAGES[2:]:
        assert page.stem in index or page.stem == "index", page.name


def test_every_block_is_on_a_page():
    """Folders are listed with all that is in them, modules beside them one by one."""
    listed = re.findall(r"^ +hypercast\.rtl\.(\w+)$",
                        (ROOT / "docs" / "block-pages.md").read_text(), re.MULTILINE)
    found = [path.stem for path in (ROOT / "rtl").iterdir()
             if path.name != "__init__.py" and (path.suffix == ".py" or (
                 path / "__init__.py").exists())]
    assert sorted(listed) == sorted(found)
    for name in listed:
        if (package := ROOT / "rtl" / name / "__init__.py").exists():
            assert ast.get_docstring(ast.parse(package.read_text())), name
