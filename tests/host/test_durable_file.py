"""A file written durably is the old one until the new one is complete."""

import os

import pytest

from hypercast.host.durable_file import write_durably


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
