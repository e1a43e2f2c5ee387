# SPDX-License-Identifier: BSD-2-Clause
import os
import socket

import pytest

from hypercast.host.files.reading import regular_file
from hypercast.host.files.reading.regular_file import FileError, read_bytes, read_text


@pytest.mark.timeout(20)
def test_a_fifo_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "graph.npz")
    with pytest.raises(FileError, match=r"graph\.npz is a FIFO, not a regular file; give"):
        read_bytes(tmp_path / "graph.npz")


def test_what_became_a_fifo_is_refused_at_once(tmp_path, monkeypatch):
    path = tmp_path / "graph.npz"
    path.write_bytes(b"")
    before = os.stat(path)
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(regular_file.os, "stat", lambda path: before)
    with pytest.raises(FileError, match="is a FIFO"):
        read_bytes(path)


@pytest.mark.parametrize(("path", "message"), [
    ("/dev/zero", "/dev/zero is a device, not a regular file"),
    ("{}", "is a folder, not a regular file"),
    ("{}/socket", "socket is a socket"),
    ("{}/none", "none does not exist; check the path"),
    ("{}/text/inside", r"inside cannot be read \(Not a directory\)"),
    ("{}/" + "x" * 300, "File name too long"),
    ("{}/a\0b", "is no path of a file"),
])
def test_refusals(tmp_path, monkeypatch, path, message):
    (tmp_path / "text").write_text("")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the name of a socket is short
        server.bind("socket")
        with pytest.raises(FileError, match=message):
            read_bytes(path.format(tmp_path))


def test_sizes(tmp_path, monkeypatch):
    path = tmp_path / "text"
    path.write_text("four")
    assert read_text(path, most=4) == "four"
    with pytest.raises(FileError, match="text has 4 bytes, but at most 3 are expected"):
        read_text(path, most=3)
    monkeypatch.setattr(regular_file.os, "sysconf", lambda name: 1)
    with pytest.raises(FileError, match=r"but this machine has 0\.0 GiB of memory"):
        read_text(path)


@pytest.mark.parametrize(("content", "place"), [
    (b"\xff", "line 1: byte 0 is 0xff"),
    (b"a\nb\xfc", "line 2: byte 3 is 0xfc"),
    (b"\xef\xbb\xbfa\n\xff", "line 2: byte 5 is 0xff"),
    ("ü\n".encode()[:1], "line 1: byte 0 is 0xc3"),
])
def test_text_that_is_no_utf_8(tmp_path, content, place):
    (tmp_path / "text").write_bytes(content)
    with pytest.raises(FileError, match=f"text, {place}, which is no UTF-8; save"):
        read_text(tmp_path / "text")


def test_byte_order_mark(tmp_path):
    (tmp_path / "text").write_text("\ufeffü")
    assert read_text(tmp_path / "text") == "ü"
