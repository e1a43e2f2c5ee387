# SPDX-License-Identifier: BSD-2-Clause
"""Verilator's programs: built wherever the folder is, and whatever it is called."""

import os
import subprocess
from pathlib import Path

import pytest

from hypercast.sim import verilator_build as module
from hypercast.sim.simulators import missing
from hypercast.sim.verilator_build import compile_verilog, plain_folder

WIRE = """\
module inner(input a, output b); assign b = a; endmodule
module wire_top(input a, output b); inner inner_(.a(a), .b(b)); endmodule
"""


@pytest.mark.parametrize("block", [None, "inner"])
def test_folders_that_make_does_not_take(block, tmp_path):
    if reason := missing("verilator"):
        pytest.skip(reason)
    folder = tmp_path / "a b'c $x"
    folder.mkdir()
    (folder / "wire.v").write_text(WIRE)
    compile_verilog(folder / "wire.v", top="wire_top", folder=folder, log=folder / "log",
                    block=block)
    assert {path.name for path in folder.iterdir()} == {"wire.v", "log", "wire_top"}
    libraries = str(module.cocotb.libs_dir)
    found = subprocess.run([folder / "wire_top"], capture_output=True, text=True, timeout=60,
                           env={**os.environ, "LD_LIBRARY_PATH": libraries})
    assert "error while loading shared libraries" not in found.stderr


def test_a_plain_folder_is_taken_itself(tmp_path):
    with plain_folder(Path("/a/b-c_d.e/F9")) as found:
        assert found == Path("/a/b-c_d.e/F9")


@pytest.mark.parametrize("name", ["a b", "a'b", 'a"b', "a$b", "a#b", "a:b", "a%b", "ä", "a\\b"])
def test_another_is_for_temporary_files(name, tmp_path):
    with plain_folder(tmp_path / name) as found:
        assert found.is_dir() and module._PLAIN.fullmatch(str(found))
    assert not found.exists()


def test_no_folder_is_plain(tmp_path, monkeypatch):
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: "/x y")
    monkeypatch.setattr(Path, "is_dir", lambda self: False)
    with pytest.raises(RuntimeError, match=r"make takes neither /a b nor /x y; set TMPDIR"), \
            plain_folder(Path("/a b")):
        pass
