# SPDX-License-Identifier: BSD-2-Clause
"""Machine code is kept, found again, built anew if it is damaged, and done without if it cannot be
kept."""

import contextlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from hypercast import cache
from hypercast.reference.kernels import Kernel, kernel


@kernel("int64(in1(int64), int64)")
def total(values, factor):
    """The sum of some values, times a factor."""
    found = 0
    for value in values:
        found += value * factor
    return found


class Planted:
    """What makes a file where it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return open, (str(self.marker), "w")


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder for machine code, in a path with a space."""
    monkeypatch.setattr(cache, "_temporary", lambda: tmp_path / "elsewhere")
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "a cache"))
    return tmp_path / "a cache" / "kernels"


def again():
    """The kernel, as another process has it."""
    return Kernel(total.__wrapped__, "int64(in1(int64), int64)")


def kept(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_kept_and_found_again(folder):
    first, second = again(), again()
    assert first(np.arange(5), 3) == 30
    before = kept(folder)
    assert any(path.suffix == ".nbc" for path in before)
    assert second(np.arange(5), factor=3) == 30
    assert second._compiled.stats.cache_hits and not first._compiled.stats.cache_hits
    assert kept(folder) == before
    assert total.__doc__ == again().__doc__ and again().__name__ == "total"


@pytest.mark.parametrize("name", ["*.nbi", "*.nbc", "sha256"])
@pytest.mark.parametrize("damage", [
    lambda path: path.unlink(), lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(path.read_bytes()[:-100]),
    lambda path: path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))],
    ids=["removed", "empty", "truncated", "changed"])
def test_damage(folder, name, damage):
    assert again()(np.arange(5), 3) == 30
    for path in list(folder.rglob(name)):
        damage(path)
    anew, afterwards = again(), again()
    assert anew(np.arange(5), 3) == 30 and not anew._compiled.stats.cache_hits
    assert afterwards(np.arange(5), 3) == 30 and afterwards._compiled.stats.cache_hits


def test_no_folder_that_can_be_written(folder, tmp_path):
    for path in (folder, tmp_path / "elsewhere"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("no folder")
    with pytest.warns(RuntimeWarning, match="total is compiled for this process only, as machine "
                                            "code cannot be kept: .*; set HYPERCAST_CACHE"):
        assert again()(np.arange(5), 3) == 30
    assert folder.read_text() == "no folder"


def test_a_full_disk(folder, monkeypatch):
    def full(*arguments, **named):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="cannot be kept: No space left on device"):
        assert again()(np.arange(5), 3) == 30


def test_what_another_user_could_have_planted_is_not_executed(folder, tmp_path):
    """An index of numba's is a pickle; reading it runs what it says."""
    again()(np.arange(5), 3)
    marker = tmp_path / "executed"
    [index] = folder.rglob("*.nbi")
    index.write_bytes(pickle.dumps(Planted(marker)))
    entry = next(path for path in folder.iterdir() if path.is_dir())
    (entry / "sha256").write_text(cache._digest(entry))
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="other users can write to"):
        assert again()(np.arange(5), 3) == 30
    assert not marker.exists()
    folder.chmod(0o755)
    with contextlib.suppress(Exception):
        again()(np.arange(5), 3)
    assert marker.exists(), "it is executed where it is trusted, or else this shows nothing"


def test_arrays_that_may_only_be_read(folder, tmp_path):
    values = np.arange(5)
    values.setflags(write=False)
    assert total(values, 1) == 10
    np.save(tmp_path / "values.npy", np.arange(5))
    assert total(np.load(tmp_path / "values.npy", mmap_mode="r"), 1) == 10


def test_other_types_are_refused(folder):
    with pytest.raises(TypeError, match="No matching definition"):
        total(np.arange(5.0), 1)


def test_importing_kernels_brings_no_numba():
    """It takes half a second, which `hypercast --help` should not."""
    code = ("import sys, hypercast.host.cli, hypercast.host.training.trainer\n"
            "sys.exit('numba' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_nothing_else_is_left(folder):
    """Beside a kernel's folder is only the file that processes hold."""
    again()(np.arange(5), 3)
    [path] = [path for path in folder.iterdir() if path.is_dir()]
    assert {one.name for one in folder.iterdir()} == {path.name, f"{path.name}.lock"}
