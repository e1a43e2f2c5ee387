"""A file written durably is the old one until the new one is complete."""

import errno
import os

import pytest

from hypercast.host.files.durable_file import require_writable, write_durably


def test_content(tmp_path):
    path = tmp_path / "file"
    for content in (b"one", b"another"):
        write_durably(path, content)
        assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_the_old_one_stays_until_the_new_one_is_on_the_disk(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_durably(path, b"old")

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_durably(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_write_that_fails_leaves_nothing_and_names_the_file(tmp_path, monkeypatch):
    path = tmp_path / "file"

    def full(_):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=f"no space left: '{path}'"):
        write_durably(path, b"new")
    assert not list(tmp_path.iterdir())


def test_whether_a_file_can_be_written(tmp_path):
    path = tmp_path / "file"
    require_writable(path)
    assert not list(tmp_path.iterdir())
    path.write_bytes(b"old")
    require_writable(path)
    assert path.read_bytes() == b"old"
    with pytest.raises(FileNotFoundError, match=f"'{tmp_path}/nowhere/file'"):
        require_writable(tmp_path / "nowhere" / "file")


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        for function in (require_writable, lambda path: write_durably(path, b"new")):
            with pytest.raises(OSError, match="it is no regular file") as found:
                function(path)
            assert found.value.filename == str(path)
    assert pipe.is_fifo() and [*tmp_path.iterdir()] == [pipe]


@pytest.mark.parametrize("names", [("itself", "itself"), ("one", "other")])
def test_links_in_a_circle_are_refused(tmp_path, names):
    for name, target in dict.fromkeys([names, names[::-1]]):
        (tmp_path / name).symlink_to(target)
    for write in (lambda path: write_durably(path, b"new"), require_writable):
        with pytest.raises(OSError, match="leads back to itself"):
            write(tmp_path / names[0])
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(set(names))


def test_a_link_stays_and_a_file_keeps_its_mode(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    write_durably(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o600
