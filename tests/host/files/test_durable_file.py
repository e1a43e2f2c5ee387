# SPDX-License-Identifier: BSD-2-Clause
"""A file written durably is the old one until the new one is complete, whoever is near."""

import errno
import os
import re
import threading
import time
from pathlib import Path

import pytest

from hypercast.host.files.durable_file import (
    append_durably,
    flush_folder,
    open_new,
    remove_abandoned,
    replace_when_written,
    require_writable,
    write_durably,
)


def write_apart(path):
    with replace_when_written(path) as written:
        written.write_bytes(b"new")


def write_new(path):
    with open_new(path) as file:
        file.write("new")


def write(path):
    write_durably(path, b"new")


def append(path):
    append_durably(path, b"new")


#: All that writes to a path, and leaves "new" at the end of it.
WRITERS = [write, write_apart, write_new, append]


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize("writer", WRITERS)
def test_content(tmp_path, writer):
    path = tmp_path / "file"
    writer(path)
    assert path.read_bytes() == b"new"
    path.write_bytes(b"old")
    writer(path)
    assert path.read_bytes() == (b"oldnew" if writer is append else b"new")
    assert names(tmp_path) == ["file"]


def test_the_old_one_stays_until_the_new_one_is_on_the_disk(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_durably(path, b"old")

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_durably(path, b"new")
    assert path.read_bytes() == b"old"


def test_names_are_on_the_disk_when_a_write_returns(tmp_path, monkeypatch):
    """What the file holds first, and then the folder, in which it has its name by then."""
    flushed = []

    def flush(descriptor):
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        flushed.append((path.parent if path.is_file() else path, (tmp_path / "file").exists()))

    monkeypatch.setattr(os, "fsync", flush)
    write_durably(tmp_path / "file", b"new")
    assert flushed == [(tmp_path, False), (tmp_path, True)]
    before = names(Path("/proc/self/fd"))
    flush_folder(tmp_path)
    assert flushed[2:] == [(tmp_path, True)] and names(Path("/proc/self/fd")) == before


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no space left"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_nothing_and_names_the_file(tmp_path, monkeypatch, error):
    path = tmp_path / "file"

    def fails(_):
        raise error

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(type(error)) as found:
        write_durably(path, b"new")
    assert getattr(found.value, "filename", str(path)) == str(path)
    assert not names(tmp_path)


def test_what_replaces_a_file_is_removed_where_something_fails(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="x"), replace_when_written(path) as written:
        written.write_bytes(b"new")
        written.with_name("besides").write_bytes(b"")
        raise ValueError("x")
    assert path.read_bytes() == b"old" and names(tmp_path) == ["file"]


def test_whether_a_file_can_be_written(tmp_path):
    path = tmp_path / "file"
    require_writable(path)
    assert not names(tmp_path)
    path.write_bytes(b"old")
    require_writable(path)
    assert path.read_bytes() == b"old"
    with pytest.raises(FileNotFoundError, match=f"'{tmp_path}/nowhere/file'$"):
        require_writable(tmp_path / "nowhere" / "file")
    with pytest.raises(OSError, match="too long"):
        require_writable(tmp_path / ("x" * 300))


@pytest.mark.parametrize("writer", [*WRITERS, require_writable])
def test_what_is_no_regular_file_is_not_replaced(tmp_path, writer):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link, tmp_path, Path("/dev/null")):
        with pytest.raises(OSError, match="it is no regular file") as found:
            writer(path)
        assert found.value.filename == str(path)
    assert pipe.is_fifo() and names(tmp_path) == ["link", "pipe"]


@pytest.mark.parametrize("circle", [("itself", "itself"), ("one", "other")])
@pytest.mark.parametrize("writer", [*WRITERS, require_writable])
def test_links_in_a_circle_are_refused(tmp_path, circle, writer):
    for name, target in dict.fromkeys([circle, circle[::-1]]):
        (tmp_path / name).symlink_to(target)
    with pytest.raises(OSError, match="leads back to itself"):
        writer(tmp_path / circle[0])
    assert names(tmp_path) == sorted(set(circle))


@pytest.mark.parametrize("count", [1, 38, 39, 40, 41, 42])
@pytest.mark.parametrize("writer", WRITERS)
def test_as_many_links_are_followed_as_the_kernel_follows(tmp_path, count, writer):
    target = tmp_path / "0"
    target.write_bytes(b"")
    for number in range(count):
        (tmp_path / f"{number + 1}").symlink_to(f"{number}")
    last = tmp_path / f"{count}"
    try:
        last.read_bytes()
    except OSError as error:
        with pytest.raises(OSError, match="leads back to itself") as found:
            writer(last)
        assert found.value.errno == error.errno and count > 38
    else:
        writer(last)
        assert target.read_bytes() == b"new" and last.is_symlink()


@pytest.mark.parametrize("writer", WRITERS)
def test_own_links_stay_and_a_file_keeps_its_mode(tmp_path, writer):
    target, link, other = tmp_path / "target", tmp_path / "link", tmp_path / "folder" / "other"
    target.write_bytes(b"")
    target.chmod(0o600)
    other.parent.mkdir()
    other.symlink_to("../target")
    link.symlink_to(other)
    writer(link)
    assert link.is_symlink() and other.is_symlink() and target.read_bytes() == b"new"
    if writer is not write_apart:
        assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("writer", WRITERS)
def test_files_of_the_user_beside_it_are_left_alone(tmp_path, writer):
    """Whatever they are called: what is written first has a name of its own."""
    mine = [tmp_path / name for name in ("file.part", ".file.part", "file.tmp", ".hypercast.part")]
    for path in mine:
        path.write_text("mine")
    (tmp_path / "file~").symlink_to("file.part")
    writer(tmp_path / "file")
    require_writable(tmp_path / "file")
    remove_abandoned(tmp_path)
    assert {path.read_text() for path in mine} == {"mine"}
    assert len(names(tmp_path)) == len(mine) + 2


def test_two_writers_never_tear(tmp_path):
    """What is read is what one of them wrote, and no write fails."""
    path, failed, ended = tmp_path / "file", [], threading.Event()
    contents = [bytes([65 + writer]) * 200_000 for writer in range(3)]
    path.write_bytes(contents[0])

    def writing(content):
        try:
            for _ in range(15):
                write_durably(path, content)
        except OSError as error:
            failed.append(error)

    def reading():
        while not ended.is_set():
            if path.read_bytes() not in contents:
                failed.append("torn")

    reader = threading.Thread(target=reading)
    writers = [threading.Thread(target=writing, args=[content]) for content in contents]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    ended.set()
    reader.join()
    assert not failed and names(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of other users")
@pytest.mark.parametrize("writer", [*WRITERS, require_writable])
def test_links_of_other_users_are_not_followed(tmp_path, writer):
    """As where another user of the machine guesses what root will write to /tmp."""
    secret = tmp_path / "secret"
    secret.write_text("mine")
    for place, target in (("link", secret), ("dangling", tmp_path / "none")):
        path = tmp_path / place
        path.symlink_to(target)
        os.chown(path, 1234, 1234, follow_symlinks=False)
        before = names(tmp_path)
        with pytest.raises(PermissionError, match=r"a link of another user.*give the path"):
            writer(path)
        assert secret.read_text() == "mine" and names(tmp_path) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of other users")
def test_a_file_of_another_user_does_not_make_ours_writable_for_all(tmp_path):
    path = tmp_path / "file"
    for mode, expected in ((0o666, 0o644), (0o600, 0o600)):
        path.write_bytes(b"")
        path.chmod(mode)
        os.chown(path, 1234, 1234)
        write_durably(path, b"new")
        assert path.stat().st_mode & 0o777 == expected and path.stat().st_uid == os.geteuid()
        path.unlink()


def test_what_is_written_first_is_made_by_this_process_alone(tmp_path, monkeypatch):
    """Even of a name that was guessed: neither a link nor a file there is taken."""
    secret = tmp_path / "secret"
    secret.write_text("mine")
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setattr("secrets.token_hex", lambda count: "0" * 2 * count)
    planted = folder / f".hypercast-{'0' * 16}.part"
    planted.symlink_to(secret)
    for writer in (write, write_new, require_writable):
        with pytest.raises(FileExistsError):
            writer(folder / "file")
    assert secret.read_text() == "mine" and names(folder) == [planted.name]


def test_what_killed_processes_left_is_removed_once_nobody_writes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: os._exit(9))
    if not (child := os.fork()):
        write_durably(tmp_path / "file", b"new")
    os.waitpid(child, 0)
    [left] = tmp_path.iterdir()
    assert re.fullmatch(r"\.hypercast-[0-9a-f]{16}\.part", left.name)
    remove_abandoned(tmp_path)  # it may be another process's that goes on
    assert left.exists()
    os.utime(left, (0, time.time() - 4000))
    remove_abandoned(tmp_path)
    assert not names(tmp_path)
