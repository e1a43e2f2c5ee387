# SPDX-License-Identifier: BSD-2-Clause
"""Files that are named as devices, and are none."""

import contextlib
import os
import stat

from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.registers import MAGIC, register

__all__ = ["FILES", "left_alone"]


def _empty(path):
    path.write_bytes(b"")


def _short(path):
    path.write_bytes(b"a letter of mine\n")


def _long(path):
    path.write_bytes(bytes(range(256)) * 32)


def _like_a_chip(path):
    """What a program that only looks at the magic takes for one."""
    content = bytearray(8192)
    for name, value in (("magic", MAGIC), ("version", INTERFACE_VERSION),
                        ("config_hash", PRESETS["tiny"].hash)):
        content[register(name):register(name) + 4] = value.to_bytes(4, "little")
    path.write_bytes(content)


def _pipe(path):
    os.mkfifo(path)


def _folder(path):
    path.mkdir()


def _dangling(path):
    path.symlink_to(path.with_name("none"))


def _link(path):
    _long(path.with_name("other"))
    path.symlink_to("other")


def _block_device(path):
    os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(7, 250))  # a loop device that nobody has


#: What makes each; ``pytest`` shows its name.
FILES = [_empty, _short, _long, _like_a_chip, _pipe, _folder, _dangling, _link,
         *([_block_device] if os.geteuid() == 0 else [])]


def _state(folder):
    return {path.name: (os.lstat(path)[:7], os.lstat(path).st_mtime_ns,
                        path.read_bytes() if path.is_file() else None)
            for path in folder.iterdir()}


@contextlib.contextmanager
def left_alone(folder, make):
    """Make such a file; at the end, nothing in the folder must have changed."""
    path = folder / "device"
    make(path)
    before = _state(folder)
    yield path
    assert _state(folder) == before
