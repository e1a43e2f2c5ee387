# SPDX-License-Identifier: BSD-2-Clause
import os
import socket

import pytest

from hypercast.host.files.reading import regular_file
from hypercast.host.files.reading.regular_file import (
    DESCRIPTION_BYTES,
    FileError,
    check_size,
    intact,
    one_line,
    read_bytes,
    read_text,
)


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


@pytest.mark.parametrize(("text", "line"), [
    ("plain", "plain"), ("ü 漢", "ü 漢"), ("a\nb\r\nc", "a b c"), ("a\x1b[0m", r"a\x1b[0m"),
    ("a\tb", r"a\tb"), ("\udc80\udcff", "\udc80\udcff"), ("\ud800", r"\ud800"),
    ("\udc7f\udd00", r"\udc7f\udd00"), ("'", "'"), ("x" * 1200, "x" * 1200)])
def test_messages_are_one_line_that_prints(text, line):
    """Bytes of paths that are no text are left: they are printed as those bytes."""
    assert one_line(text) == str(FileError(text)) == line


def test_long_messages_keep_beginning_and_end():
    text = "".join(chr(97 + number % 26) for number in range(1201))
    assert one_line(text) == f"{text[:600]} ... {text[-400:]}"


def test_what_parsers_raise():
    """Errors that say themselves what is wrong are let through."""
    for error, text in ((ValueError("a\n b"), "a b"), (KeyError(), "KeyError")):
        with pytest.raises(FileError) as found, intact("file", "a graph"):
            raise error
        assert str(found.value) == f"file is damaged or not a graph ({text}); make it again"
    for error in FileError("own"), IndexError("known"):
        with pytest.raises(type(error), match=r"^(own|known)$"), intact("file", "", (IndexError,)):
            raise error


def test_a_file_of_as_much_as_memory_holds(monkeypatch):
    monkeypatch.setattr(regular_file.os, "sysconf", lambda name: {
        "SC_PAGE_SIZE": 1 << 20, "SC_PHYS_PAGES": 1 << 12}[name])
    check_size("file", 1 << 32)
    with pytest.raises(FileError, match=r"^file takes 6\.0 GiB, but .* has 4\.0 GiB of memory"):
        check_size("file", 3 << 31)


def test_what_is_written_by_hand_has_a_mebibyte_at_most():
    assert DESCRIPTION_BYTES == 1_048_576
