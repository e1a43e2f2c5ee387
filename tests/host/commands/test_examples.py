# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast examples``: what is copied, and what is not overwritten."""

import filecmp

from click.testing import CliRunner

from hypercast.host.cli import main
from tests.packaging.source_tree import EXAMPLES, ROOT


def run(*arguments):
    return CliRunner().invoke(main, ["examples", *map(str, arguments)])


def files(folder):
    """What is in a folder, but for what examples make there."""
    found = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path for path in found if not {"__pycache__", "build"} & set(path.parts)}


def test_they_are_copied(tmp_path):
    result = run(tmp_path / "mine")
    assert result.exit_code == 0, result.output
    source, copied = ROOT / EXAMPLES, files(tmp_path / "mine")
    assert {str(path) for path in files(source) - copied} == {"__init__.py"}
    assert not copied - files(source)
    _, different, missing = filecmp.cmpfiles(
        source, tmp_path / "mine", sorted(map(str, copied)), shallow=False)
    assert not different and not missing
    assert len(result.output.splitlines()) == len(copied)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_an_empty_folder_is_filled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert run("mine").exit_code == 0
    assert (tmp_path / "mine" / "c" / "hypercast_driver.c").exists()


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "notes").write_text("mine")
    result = run(tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path} is not empty" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_folder_in_no_folder(tmp_path):
    result = run(tmp_path / "none" / "mine")
    assert result.exit_code == 2
    assert "there is no folder" in result.output
