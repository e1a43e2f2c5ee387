# SPDX-License-Identifier: BSD-2-Clause
"""Folders with files of a chip: another chip's files, and other people's, are never replaced."""

import json

import click
import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.commands.chip_folder import require_chip_folder, write_chip
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.rtl.export.manifest import manifest

CHIP = manifest(PRESETS["tiny"])


def files(description):
    return {"chip.v": "module", "a.bin": b"\0", "manifest.json": json.dumps(description)}


def export(folder, description=CHIP):
    require_chip_folder(folder, description)
    write_chip(folder, files(description))


def test_the_same_chip_may_be_written_again(tmp_path):
    for _ in range(2):
        export(tmp_path / "new")
    later = CHIP | {"interface_version": 99, "registers": []}
    export(tmp_path / "new", later)
    assert json.loads((tmp_path / "new/manifest.json").read_text()) == later
    assert (tmp_path / "new/a.bin").read_bytes() == b"\0"


@pytest.mark.parametrize(("other", "message"), [
    (manifest(PRESETS["test"]), f"configuration hash {PRESETS['tiny'].hash:#010x}, not "
                                f"configuration hash {PRESETS['test'].hash:#010x}"),
    (manifest(PRESETS["tiny"], ExportOptions(top_name="mine")), 'top "hypercast", not top "mine"'),
    (manifest(PRESETS["tiny"], ExportOptions(prefix="a_", top_name="hypercast")),
     'prefix "", not prefix "a_"'),
    (manifest(PRESETS["tiny"], ExportOptions(external=True)), 'memory "sram", not memory "axi"'),
    (CHIP | {"board": "u50"}, 'no board, not board "u50"'),
    (CHIP | {"debug": True}, "debug false, not debug true"),
    (CHIP | {"bulk": True}, "bulk false, not bulk true")])
def test_another_chip_is_refused(other, message, tmp_path):
    export(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(click.UsageError) as error:
        export(tmp_path, other)
    assert message in str(error.value) and "take another folder, by -o" in str(error.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_manifest_without_an_option_is_of_a_chip_without_it(tmp_path):
    export(tmp_path)
    export(tmp_path, CHIP | {"debug": False, "bulk": False})


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"name": "an extension"}', "\x00"])
def test_a_manifest_of_something_else_is_refused(text, tmp_path):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(click.UsageError, match=r"manifest\.json is there, and says of no chip"):
        export(tmp_path)


def test_other_files_of_that_name_are_refused(tmp_path):
    (tmp_path / "a.bin").write_text("mine")
    with pytest.raises(click.UsageError, match=r"a\.bin is there, and no manifest\.json says"):
        export(tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_what_was_interrupted_is_not_completed_by_another_chip(tmp_path, monkeypatch):
    written = []

    def interrupted(path, content):
        if written:
            raise KeyboardInterrupt
        path.write_bytes(content)
        written.append(path)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("hypercast.host.commands.chip_folder.write_durably", interrupted)
        export(tmp_path)
    with pytest.raises(click.UsageError, match="files of another chip"):
        export(tmp_path, manifest(PRESETS["test"]))
    export(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(files(CHIP))


@pytest.mark.parametrize("command", [
    ["verilog", "--preset", "test"], ["verilog", "--preset", "tiny", "--top-name", "mine"],
    ["build", "--board", "ulx3s", "--no-run"], ["build", "--board", "kv260"]])
def test_commands_refuse_it_before_they_begin(command, tmp_path):
    export(tmp_path)
    result = CliRunner().invoke(main, [*command, "-o", str(tmp_path)])
    assert result.exit_code == 2 and "has the files of another chip" in result.output
