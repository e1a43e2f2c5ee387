# SPDX-License-Identifier: BSD-2-Clause
"""What takes long is made once, whoever asks, again if it is damaged, and never taken from others.
"""

import os
import re
import shutil
import signal
import tempfile
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from hypercast import cache
from hypercast.cache import cache_folder, distrust, ensure, find_entry

CONTENT = bytes(range(256)) * 8
#: Another user of the machine.
OTHER = 1234
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory, monkeypatch):
    """The folder for temporary files, where entries are made if they cannot be where they should.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setattr(cache, "_temporary", lambda: folder / "own")
    monkeypatch.setattr(cache, "_WARNED", set())
    return folder / "own"


class Maker:
    """Counts how often it makes a library; ``wait`` comes first."""

    def __init__(self, wait=lambda: None):
        self.made = 0
        self._wait = wait

    def __call__(self, folder):
        self._wait()
        self.made += 1
        (folder / "nested").mkdir()
        (folder / "nested" / "part").write_bytes(b"")
        (folder / "file").write_bytes(CONTENT)


def make(root, name, maker, **options):
    """Ask for an entry; its file."""
    return ensure("kind", name, maker, root=root, **options) / "file"


def names(root):
    """What is in a cache: entries, and builds without what makes their names unique."""
    return sorted(re.sub(r"\..*\.build", ".build", path.name)
                  for path in (root / "kind").iterdir() if path.suffix != ".lock")


def test_an_entry_is_made_once(tmp_path):
    maker, root = Maker(), tmp_path / "a" / "cache"
    assert find_entry("kind", "one", root=root) is None and not root.exists()
    for _ in range(3):
        assert make(root, "one", maker).read_bytes() == CONTENT
    assert find_entry("kind", "one", root=root) == root / "kind" / "one"
    assert maker.made == 1
    assert names(root) == ["one"]
    assert sorted(path.name for path in (root / "kind" / "one").iterdir()) == [
        "file", "nested", "sha256"]


def cut(file):
    file.write_bytes(CONTENT[:-1])


def empty(file):
    file.write_bytes(b"")


def flip(file):
    file.write_bytes(CONTENT[:100] + b"?" + CONTENT[101:])


def lose(file):
    file.unlink()


def lose_part(file):
    (file.parent / "nested" / "part").unlink()


def rename_part(file):
    (file.parent / "nested" / "part").rename(file.parent / "nested" / "tarp")


def add(file):
    (file.parent / "more").write_bytes(b"")


def lose_digest(file):
    file.with_name("sha256").unlink()


def damage_digest(file):
    file.with_name("sha256").write_bytes(b"\xff" * 64)


def link(file):
    """The same contents, but others may write them."""
    file.rename(file.parents[2] / "away")
    file.symlink_to(file.parents[2] / "away")


def open_to_others(file):
    file.chmod(0o666)


def open_folder_to_others(file):
    file.parent.chmod(0o777)


def replace_by_a_file(file):
    shutil.rmtree(file.parent)
    file.parent.write_text("")


def replace_by_a_link(file):
    file.parent.rename(file.parents[2] / "away")
    file.parent.symlink_to(file.parents[2] / "away")


@pytest.mark.parametrize("damage", [
    cut, empty, flip, lose, lose_part, rename_part, add, lose_digest, damage_digest, link,
    open_to_others, open_folder_to_others, replace_by_a_file, replace_by_a_link])
def test_a_damaged_entry_is_made_again(tmp_path, damage):
    maker = Maker()
    damage(make(tmp_path, "one", maker))
    assert find_entry("kind", "one", root=tmp_path) is None
    assert make(tmp_path, "one", maker).read_bytes() == CONTENT
    assert maker.made == 2
    make(tmp_path, "one", maker)
    assert maker.made == 2 and names(tmp_path) == ["one"]


def test_a_failed_build_stays_to_be_looked_at_until_the_next_one(tmp_path):
    def fail(folder):
        (folder / "compile.log").write_text("why")
        raise RuntimeError("the compiler failed")
    with pytest.raises(RuntimeError, match="the compiler failed"):
        make(tmp_path, "one", fail)
    assert names(tmp_path) == ["one.build"]
    maker = Maker()
    make(tmp_path, "two", maker)
    assert names(tmp_path) == ["two"]
    make(tmp_path, "one", maker)
    assert names(tmp_path) == ["one", "two"]


def die(folder):
    (folder / "half.o").write_bytes(b"")
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("asked", ["one", "another"])
def test_what_a_killed_build_left_is_removed(tmp_path, asked):
    process = get_context("spawn").Process(target=make, args=(tmp_path, "one", die))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert names(tmp_path) == ["one.build"]
    make(tmp_path, asked, Maker())
    assert names(tmp_path) == [asked]


def test_who_asks_for_the_same_waits(tmp_path):
    released, said = threading.Event(), []
    maker = Maker(lambda: released.wait(30))

    def progress(text):
        said.append(text)
        if len(said) == 3:
            released.set()
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(make, tmp_path, "one", maker, progress=progress) for _ in range(4)]
        assert {one.result(60) for one in asked} == {
            tmp_path / "kind" / "one" / "file"}
    assert maker.made == 1
    assert released.is_set() and len(said) == 3


def test_who_asks_for_another_does_not(tmp_path):
    made = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        one = pool.submit(make, tmp_path, "one", Maker(lambda: made.wait(30) or pytest.fail(
            "the other entry waits")))
        while not (tmp_path / "kind").exists() or names(tmp_path) != ["one.build"]:
            assert not one.done()
        make(tmp_path, "another", Maker())
        assert names(tmp_path) == ["another", "one.build"]
        made.set()
        one.result(60)
    assert names(tmp_path) == ["another", "one"]


# What others could have written.

def plant(root, kind="kind", name="one"):
    """An entry with a digest that is right, as anybody could make it."""
    entry = root / kind / name
    entry.mkdir(parents=True)
    (entry / "file").write_bytes(b"planted")
    (entry / "sha256").write_text(cache._digest(entry))
    return entry


def give(path, user=OTHER):
    for one in (path, *path.rglob("*")):
        os.chown(one, user, user, follow_symlinks=False)


def kind_open_to_all(root):
    plant(root).parent.chmod(0o777)


def root_open_to_a_group(root):
    plant(root)
    root.chmod(0o775)


def root_of_another_user(root):
    plant(root)
    give(root)


def kind_of_another_user(root):
    plant(root)
    give(root / "kind")


def kind_is_a_link(root):
    root.mkdir()
    plant(root.parent, "another")
    (root / "kind").symlink_to(root.parent / "another")


def as_another_user(function):
    """Whether a function gives anything in a process of another user."""
    if not (child := os.fork()):
        try:
            os.setgroups([])
            os.setgid(OTHER)
            os.setuid(OTHER)
            os._exit(0 if function() else 1)
        finally:
            os._exit(2)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1)
    return status == 0


@pytest.mark.parametrize("planted", [
    kind_open_to_all, root_open_to_a_group, kind_is_a_link,
    pytest.param(root_of_another_user, marks=root_only),
    pytest.param(kind_of_another_user, marks=root_only)])
def test_what_others_could_have_written_is_not_taken(tmp_path, elsewhere, planted):
    """Nor is anything changed there; what is made elsewhere is found there."""
    root, maker = tmp_path / "cache", Maker()
    planted(root)
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert find_entry("kind", "one", root=root) is None and distrust(root / "kind")
    with pytest.warns(RuntimeWarning, match=f"kept in {elsewhere} instead; set HYPERCAST_CACHE"):
        assert make(root, "one", maker) == elsewhere / "kind" / "one" / "file"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(root, "one", maker)
        make(root, "two", maker)  # it has been said
    assert maker.made == 2
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@root_only
def test_an_entry_of_another_user_in_a_folder_of_ours_is_made_again(tmp_path):
    """It was there before others were kept out."""
    give(plant(tmp_path))
    assert make(tmp_path, "one", Maker()).read_bytes() == CONTENT
    assert (tmp_path / "kind" / "one" / "file").stat().st_uid == 0


@root_only
def test_locks_are_no_links_to_files_of_ours(tmp_path, elsewhere):
    secret = tmp_path / "secret"
    secret.write_text("mine")
    (tmp_path / "cache" / "kind").mkdir(parents=True)
    (tmp_path / "cache" / "kind" / "one.lock").symlink_to(secret)
    with pytest.warns(RuntimeWarning, match=r"one\.lock cannot be written"):
        make(tmp_path / "cache", "one", Maker())
    assert secret.read_text() == "mine"


def test_the_user_may_have_put_a_link_there(tmp_path):
    (tmp_path / "large").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "large")
    make(tmp_path / "cache", "one", Maker())
    assert names(tmp_path / "large") == ["one"]


@root_only
def test_entries_that_root_made_are_there_for_others():
    """As where root fills a cache that all users of a machine read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        old = os.umask(0o002)
        try:
            make(Path(name, "cache"), "one", Maker())
        finally:
            os.umask(old)
        assert as_another_user(lambda: find_entry("kind", "one", root=Path(name, "cache")))
        assert not as_another_user(lambda: find_entry("kind", "two", root=Path(name, "cache")))


@root_only
def test_what_another_user_made_is_not_taken_by_root():
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        root = Path(name, "cache")
        assert as_another_user(lambda: make(root, "one", Maker()))
        assert as_another_user(lambda: find_entry("kind", "one", root=root))
        assert find_entry("kind", "one", root=root) is None


def test_a_folder_that_cannot_be_written(tmp_path, elsewhere):
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match=f"{tmp_path}/file/kind cannot be written"):
        assert make(tmp_path / "file", "one", Maker()).read_bytes() == CONTENT
    elsewhere.chmod(0o777)
    with pytest.raises(OSError, match=r"can write to .*set HYPERCAST_CACHE to a folder"):
        make(tmp_path / "file", "two", Maker())
    assert (tmp_path / "file").read_text() == ""


def test_errors_of_what_is_made_are_not_taken_for_the_folders(tmp_path, elsewhere):
    def full(folder):
        raise OSError(28, "No space left on device")
    with pytest.raises(OSError, match="No space left"):
        make(tmp_path, "one", full)
    assert not elsewhere.exists()


def test_links_in_an_entry_are_not_followed_when_its_modes_are_set(tmp_path):
    other = tmp_path / "other"
    other.write_text("")
    other.chmod(0o666)
    make(tmp_path / "cache", "one", lambda folder: (folder / "link").symlink_to(other))
    assert other.stat().st_mode & 0o777 == 0o666
    assert find_entry("kind", "one", root=tmp_path / "cache") is None


# Where entries are.

@pytest.mark.parametrize(("given", "expected"), [
    ({"HYPERCAST_CACHE": "/a b", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/a b"),
    ({"HYPERCAST_CACHE": "", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/hypercast"),
    ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/hypercast"),
    ({"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/hypercast"),
    ({"HOME": ""}, "HOME/.cache/hypercast"), ({}, "HOME/.cache/hypercast")])
def test_where_entries_are_kept(monkeypatch, given, expected):
    for name in ("HYPERCAST_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    home = str(Path.home())
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected.replace("HOME", home))


def test_a_relative_folder_stays_where_it_was(monkeypatch, tmp_path):
    monkeypatch.setenv("HYPERCAST_CACHE", "here")
    monkeypatch.chdir(tmp_path)
    assert cache_folder() == tmp_path / "here"


def test_a_user_without_a_home(monkeypatch, elsewhere):
    for name in ("HYPERCAST_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)

    def nobody(number):
        raise KeyError(number)
    monkeypatch.setattr(cache.pwd, "getpwuid", nobody)
    assert cache_folder() == elsewhere
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make(None, "one", Maker()).read_bytes() == CONTENT
