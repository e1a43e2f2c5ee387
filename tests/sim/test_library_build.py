# SPDX-License-Identifier: BSD-2-Clause
"""A library that was damaged in the cache is compiled again, and can be loaded."""

import ctypes
from pathlib import Path

import pytest

from hypercast.sim import library_build
from hypercast.sim.library import load_library
from hypercast.sim.library_build import BuildError, Design, build
from tests.system.chips import WIDE


def design(folder, source):
    harness = folder / "harness.cpp"
    harness.write_text(source)
    return Design(config=WIDE, harness=harness, convert=lambda _: [])


def test_a_truncated_library_is_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "a cache of mine's"))
    counted = design(tmp_path, 'extern "C" int hypercast_one() { return 1; }')
    library = build(counted)
    library.write_bytes(library.read_bytes()[:library.stat().st_size // 2])
    said = []
    assert build(counted, progress=said.append) == library
    assert [text.split()[0] for text in said] == ["converting", "compiling"]
    assert load_library(library, "hypercast_", {"one": (ctypes.c_int, [])}).hypercast_one() == 1
    assert [path for path in library.parent.parent.iterdir() if path.suffix != ".lock"] == [
        library.parent]


def test_a_compiler_that_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("hypercast.sim.library_build.find_compiler", lambda: ["true"])
    with pytest.raises(BuildError, match=r"exit status 0, but true has written no harness\.o"):
        build(design(tmp_path, 'extern "C" int hypercast_one() { return 1; }'))
    assert not any((tmp_path / "cache").rglob("simulation.so"))


def test_what_does_not_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "cache"))
    with pytest.raises(BuildError, match=r"harness failed with exit status 1 \(log: .*harness.log"):
        build(design(tmp_path, "this is no C++"))


def test_every_name_of_a_builder_is_a_source():
    folder = Path(library_build.__file__).parent
    assert [name for name in library_build._BUILDERS if not any(folder.glob(name))] == []
