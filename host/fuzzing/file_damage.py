"""Damage to files: to their contents, or of what they are."""

import os
import shutil

from hypercast.host.fuzzing.bytes_damage import damaged

__all__ = ["damage_file", "replace_file"]


def _folder(path):
    path.mkdir()


def _fifo(path):
    os.mkfifo(path)


def _empty(path):
    path.touch()


def _link_to_itself(path):
    path.symlink_to(path.name)


def _dangling_link(path):
    path.symlink_to(path.name + ".gone")


def _endless(path):
    path.symlink_to("/dev/zero")


def _sparse(path):
    with path.open("wb") as file:
        file.truncate(1 << 42)


def _missing(path):
    pass


_REPLACEMENTS = {
    "a folder": _folder, "a FIFO": _fifo, "empty": _empty, "a link to itself": _link_to_itself,
    "a link to nothing": _dangling_link, "a device": _endless, "of 4 TiB": _sparse,
    "missing": _missing}


def replace_file(random, path):
    """Make a file something else, and say what."""
    kind = random.choice(list(_REPLACEMENTS))
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    _REPLACEMENTS[kind](path)
    return f"{path.name} is {kind}"


def damage_file(random, path):
    """Damage the contents of a file, or make it something else; says what was done."""
    if random.random() < 0.06:
        return replace_file(random, path)
    content, text = damaged(random, path.name, path.read_bytes())
    path.write_bytes(content)
    return f"{path.name}: {text}"
