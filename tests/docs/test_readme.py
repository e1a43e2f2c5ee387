"""What the README shows in Python runs as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def python_blocks(page):
    """The Python code of a page, block by block."""
    text = (ROOT / page).read_text()
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md"])
def test_python_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(page)
    assert blocks
    names: dict = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    accuracy = re.search(r"test accuracy ([\d.]+)%", capsys.readouterr().out)
    assert float(accuracy[1]) > 60


def test_the_readmes_example_is_short():
    [block] = python_blocks("README.md")
    assert len([line for line in block.splitlines() if line.strip()]) <= 15
