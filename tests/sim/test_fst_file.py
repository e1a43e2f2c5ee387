# SPDX-License-Identifier: BSD-2-Clause
"""FST files show what the VCD files show that they were made of."""

import random
import sys
from collections import defaultdict

import pytest
from vcd import VCDWriter

from hypercast.sim.fst_file import fst_library, write_fst

pylibfst = pytest.importorskip("pylibfst")


def write_vcd(path, rng):
    """Variables of any width, some with two names, and strings; returns (name, bits) to changes."""
    expected = defaultdict(dict)
    with path.open("w") as file, VCDWriter(file, timescale="1 ns", date="") as writer:
        variables = []
        for number in range(20):
            scope = ".".join(rng.choice("abc") for _ in range(rng.randrange(1, 4)))
            bits = rng.choice((1, 2, 8, 33, 64, 65, 300))
            text = rng.random() < 0.2
            variable = (writer.register_var(scope, f"v{number}", "string", init="-") if text else
                        writer.register_var(scope, f"v{number}", "wire", size=bits))
            names = [f"{scope}.v{number}"]
            if rng.random() < 0.3:
                writer.register_alias("c.c", f"alias{number}", variable)
                names.append(f"c.c.alias{number}")
            variables.append((variable, names, 0 if text else bits))
        for time in range(1, 60, rng.choice((1, 3))):
            for variable, names, bits in rng.sample(variables, rng.randrange(5)):
                value = rng.getrandbits(bits) >> rng.randrange(bits) if bits else \
                    f"ADD,x={rng.randrange(99)}"
                writer.change(variable, time, value)
                shown = f"{value:0{bits}b}" if bits else value
                for name in names:
                    if shown != next(reversed(expected[name].values()), None):
                        expected[name][time] = shown
    return expected


def read_fst(path):
    """Name to changes: time to value, those before time 1 left out."""
    file = pylibfst.lib.fstReaderOpen(str(path).encode())
    assert file != pylibfst.ffi.NULL
    _, signals = pylibfst.get_scopes_signals2(file)
    changes = defaultdict(dict)

    def changed(_, time, handle, value, length):
        if time:
            changes[handle][time] = pylibfst.ffi.buffer(value, length)[:].decode()

    pylibfst.lib.fstReaderSetFacProcessMaskAll(file)
    pylibfst.fstReaderIterBlocks2(
        file, lambda data, time, handle, value: changed(
            data, time, handle, value, len(pylibfst.string(value))), changed)
    scale = pylibfst.lib.fstReaderGetTimescale(file)
    pylibfst.lib.fstReaderClose(file)
    return scale, {name.partition(" ")[0]: changes[signal.handle]
                   for name, signal in signals.by_name.items()}


def lines_of(path):
    return path.read_text().splitlines(keepends=True)


@pytest.mark.parametrize("seed", range(4))
def test_changes_are_those_of_the_vcd_file(seed, tmp_path):
    rng = random.Random(seed)
    expected = write_vcd(tmp_path / "a.vcd", rng)
    write_fst(lines_of(tmp_path / "a.vcd"), tmp_path / "a.fst")
    scale, found = read_fst(tmp_path / "a.fst")
    assert scale == -9
    assert {name: {time: value for (time, value), before in zip(
        changes.items(), [None, *changes.values()], strict=False) if value != before}
            for name, changes in found.items() if changes} == expected
    assert len(expected) > 10


def test_bits_left_out_on_the_left(tmp_path):
    (tmp_path / "a.vcd").write_text(
        "$timescale\n\t10 ps\n$end\n$scope module a $end $var wire 4 ! b [3:0] $end\n$upscope $end "
        "$enddefinitions $end\n#1\nb1 !\n#2\nbx !\n#3\nb0 !\n#4\nbx1 !\n#5\nbz !\n#6\n")
    write_fst(lines_of(tmp_path / "a.vcd"), tmp_path / "a.fst")
    assert read_fst(tmp_path / "a.fst") == (
        -11, {"a.b": {1: "0001", 2: "xxxx", 3: "0000", 4: "xxx1", 5: "zzzz"}})


def test_where_it_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none/a\.fst"):
        write_fst(["$enddefinitions $end\n"], tmp_path / "none" / "a.fst")


def test_nothing_else_is_written_or_followed(tmp_path):
    """The library opens files beside its own by names that anybody can foresee."""
    other = tmp_path / "other"
    other.write_text("mine")
    folder = tmp_path / "waves"
    folder.mkdir()
    (folder / "a.fst.hier").symlink_to(other)
    write_vcd(tmp_path / "a.vcd", random.Random(0))
    write_fst(lines_of(tmp_path / "a.vcd"), folder / "a.fst")
    assert other.read_text() == "mine"
    assert sorted(path.name for path in folder.iterdir()) == ["a.fst", "a.fst.hier"]


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "pylibfst", None)
    with pytest.raises(ValueError, match=r"pip install 'hypercast-gcn\[fst\]'"):
        fst_library()


@pytest.mark.parametrize(("unit", "power"), [
    ("s", 0), ("ms", -3), ("us", -6), ("ns", -9), ("ps", -12), ("fs", -15)])
@pytest.mark.parametrize(("number", "more"), [("1", 0), ("10", 1), ("100", 2)])
def test_scales_of_time(unit, power, number, more, tmp_path):
    write_fst([f"$timescale {number} {unit} $end\n", "$scope module a $end\n",
               "$var wire 1 ! b $end\n", "$upscope $end $enddefinitions $end\n", "#1\n", "1!\n"],
              tmp_path / "a.fst")
    assert read_fst(tmp_path / "a.fst") == (power + more, {"a.b": {1: "1"}})


def test_strings_are_strings(tmp_path):
    write_fst(["$scope module a $end $var string 1 ! b $end $var wire 2 % c $end\n",
               "$upscope $end $enddefinitions $end\n", "#1\n", "sADD,x=3 !\n", "b10 %\n"],
              tmp_path / "a.fst")
    file = pylibfst.lib.fstReaderOpen(str(tmp_path / "a.fst").encode())
    _, signals = pylibfst.get_scopes_signals2(file)
    pylibfst.lib.fstReaderClose(file)
    assert {name: signal.length for name, signal in signals.by_name.items()} == {
        "a.b": 0, "a.c": 2}


def test_a_library_that_cannot_write_says_so(monkeypatch, tmp_path):
    class Library:
        def __getattr__(self, name):
            return getattr(pylibfst.lib, name)

        def fstWriterCreate(self, path, use_hierarchy):  # noqa: N802 - as the library has it
            return pylibfst.ffi.NULL

    monkeypatch.setattr(pylibfst, "lib", Library())
    with pytest.raises(OSError, match=r"it cannot be written.*a\.fst"):
        write_fst([], tmp_path / "a.fst")
    assert not (tmp_path / "a.fst").exists()
