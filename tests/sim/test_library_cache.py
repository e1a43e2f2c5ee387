"""Libraries are built once, whoever asks, and again if they are damaged."""

import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from hypercast.sim.library_cache import LIBRARY, cached

CONTENT = bytes(range(256)) * 8


class Maker:
    """Counts how often it makes a library; ``wait`` comes first."""

    def __init__(self, wait=lambda: None):
        self.made = 0
        self._wait = wait

    def __call__(self, folder):
        self._wait()
        self.made += 1
        (folder / "intermediate.o").write_bytes(b"")
        (folder / "nested").mkdir()
        (folder / LIBRARY).write_bytes(CONTENT)


def names(folder):
    """What is in a cache: libraries, and builds without what makes their names unique."""
    return sorted(re.sub(r"\..*\.build", ".build", path.name)
                  for path in folder.iterdir() if path.suffix != ".lock")


def test_a_library_is_made_once(tmp_path):
    maker = Maker()
    for _ in range(3):
        assert cached(tmp_path / "cache" / "one", maker).read_bytes() == CONTENT
    assert maker.made == 1
    assert names(tmp_path / "cache") == ["one"]
    assert names(tmp_path / "cache" / "one") == [LIBRARY, f"{LIBRARY}.sha256"]


def cut(library):
    library.write_bytes(CONTENT[:-1])


def empty(library):
    library.write_bytes(b"")


def flip(library):
    library.write_bytes(CONTENT[:100] + b"?" + CONTENT[101:])


def lose(library):
    library.unlink()


def lose_digest(library):
    library.with_name(f"{LIBRARY}.sha256").unlink()


def damage_digest(library):
    library.with_name(f"{LIBRARY}.sha256").write_bytes(b"\xff" * 64)


@pytest.mark.parametrize("damage", [cut, empty, flip, lose, lose_digest, damage_digest])
def test_a_damaged_library_is_made_again(tmp_path, damage):
    maker = Maker()
    damage(cached(tmp_path / "one", maker))
    assert cached(tmp_path / "one", maker).read_bytes() == CONTENT
    assert maker.made == 2
    cached(tmp_path / "one", maker)
    assert maker.made == 2


def test_a_failed_build_stays_to_be_looked_at_until_the_next_one(tmp_path):
    def fail(folder):
        (folder / "compile.log").write_text("why")
        raise RuntimeError("the compiler failed")
    with pytest.raises(RuntimeError, match="the compiler failed"):
        cached(tmp_path / "one", fail)
    assert names(tmp_path) == ["one.build"]
    maker = Maker()
    cached(tmp_path / "two", maker)
    assert names(tmp_path) == ["two"]
    cached(tmp_path / "one", maker)
    assert names(tmp_path) == ["one", "two"]


def die(folder):
    (folder / "half.o").write_bytes(b"")
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("asked", ["one", "another"])
def test_what_a_killed_build_left_is_removed(tmp_path, asked):
    process = get_context("spawn").Process(target=cached, args=(tmp_path / "one", die))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert names(tmp_path) == ["one.build"]
    cached(tmp_path / asked, Maker())
    assert names(tmp_path) == [asked]


def test_who_asks_for_the_same_waits(tmp_path):
    released, said = threading.Event(), []
    maker = Maker(lambda: released.wait(30))

    def progress(text):
        said.append(text)
        if len(said) == 3:
            released.set()
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(cached, tmp_path / "one", maker, progress=progress) for _ in range(4)]
        assert {one.result(60) for one in asked} == {tmp_path / "one" / LIBRARY}
    assert maker.made == 1
    assert released.is_set() and len(said) == 3


def test_who_asks_for_another_does_not(tmp_path):
    made = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        one = pool.submit(cached, tmp_path / "one", Maker(lambda: made.wait(30) or pytest.fail(
            "the other library waits")))
        while names(tmp_path) != ["one.build"]:
            assert not one.done()
        cached(tmp_path / "another", Maker())
        assert names(tmp_path) == ["another", "one.build"]
        made.set()
        one.result(60)
    assert names(tmp_path) == ["another", "one"]
