# SPDX-License-Identifier: BSD-2-Clause
"""Damage to files: to their contents, to the values in them, or to their kind."""

import io
import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.benches.fuzzing.bytes_damage import damage_bytes_of
from hypercast.benches.fuzzing.value_damage import damaged_array, damaged_tree

__all__ = ["damage_file", "replace_file"]


def _folder(path: Path) -> None:
    path.mkdir()


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _empty(path: Path) -> None:
    path.touch()


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def _dangling_link(path: Path) -> None:
    path.symlink_to(path.name + ".gone")


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 42)


def _missing(path: Path) -> None:
    pass


_REPLACEMENTS = {
    "a folder": _folder, "a FIFO": _fifo, "empty": _empty, "a link to itself": _link_to_itself,
    "a link to nothing": _dangling_link, "a device": _endless, "of 4 TiB": _sparse,
    "missing": _missing}


def replace_file(random: Random, path: Path) -> str:
    """Make a file something else, and say which."""
    kind = random.choice(list(_REPLACEMENTS))
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    _REPLACEMENTS[kind](path)
    return f"{path.name} is {kind}"


def _json(random: Random, content: bytes) -> tuple[bytes, str]:
    value, text = damaged_tree(random, json.loads(content))
    return json.dumps(value).encode(), text


def _array(random: Random, content: bytes) -> tuple[bytes, str]:
    value, text = damaged_array(random, np.load(io.BytesIO(content)))
    return _save(np.save, value), text


def _arrays(random: Random, content: bytes) -> tuple[bytes, str]:
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    name = random.choice(list(arrays))
    arrays[name], text = damaged_array(random, arrays[name])
    return _save(np.savez, **arrays), f"{name}: {text}"


def _save(save: Callable[..., None], *arrays: Any, **named: Any) -> bytes:
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


def _pickle(random: Random, content: bytes) -> tuple[bytes, str]:
    value = pickle.loads(content.replace(b"scipy.sparse.csr\n", b"scipy.sparse._csr\n"),
                         encoding="latin1")
    if isinstance(value, dict):
        value, text = damaged_tree(random, value)
    elif scipy.sparse.issparse(value):
        part = random.choice(("data", "indices", "indptr", "_shape"))
        damage = damaged_array if part != "_shape" else damaged_tree
        changed, text = damage(random, getattr(value, part))
        setattr(value, part, changed)
        text = f"{part}: {text}"
    else:
        value, text = damaged_array(random, value)
    return pickle.dumps(value, protocol=2), text


def _values(name: str) -> Callable[[Random, bytes], tuple[bytes, str]] | None:
    """The function that damages the values in a file, by its name; None if there is none."""
    if name.startswith("ind.") and not name.endswith(".index"):
        return _pickle
    return {".json": _json, ".npy": _array, ".npz": _arrays}.get(os.path.splitext(name)[1])


def damage_file(random: Random, path: Path) -> str:
    """Damage a file, which is whole, or make it something else; says how."""
    if random.random() < 0.06:
        return replace_file(random, path)
    damage = _values(path.name)
    if damage and random.random() < 0.5:
        content, text = damage(random, path.read_bytes())
        path.write_bytes(content)
        return f"{path.name}: {text}"
    content, text = damage_bytes_of(random, path.name, path.read_bytes())
    path.write_bytes(content)
    return f"{path.name}: {text}"
