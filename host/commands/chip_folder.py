# SPDX-License-Identifier: BSD-2-Clause
"""Folders that the files of a chip are written to: none has files of two chips."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from hypercast.host.files.durable_file import require_folder, write_durably
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import FileError

__all__ = ["MANIFEST", "require_chip_folder", "write_chip"]

#: Says which chip a folder's files are of.
MANIFEST = "manifest.json"
#: What tells chips apart, and what a manifest without it stands for.
_IDENTITY = {"board": None, "top": None, "prefix": None, "memory": None, "configuration": None,
             "debug": False, "bulk": False}
_REMEDY = "take another folder, by -o, or remove what is there"


def require_chip_folder(folder: Path, description: Mapping[str, Any]) -> None:
    """Make a folder for the files of a chip; refuse it if it has another chip's files.

    Parameters
    ----------
    folder : pathlib.Path
        The folder. That the same chip is in it, be it of another version, is no reason.
    description : dict
        The chip's manifest.

    Raises
    ------
    click.UsageError
        If there are files of another chip, or a manifest of something else.
    OSError
        If it cannot be written to.
    """
    path, found = folder / MANIFEST, None
    if path.exists():
        with contextlib.suppress(FileError):
            found = read_json(path)
        if not isinstance(found, dict) or "configuration_hash" not in found:
            raise click.UsageError(f"{path} is there, and says of no chip what it is; {_REMEDY}")
        for key, default in _IDENTITY.items():
            if found.get(key, default) != description.get(key, default):
                raise click.UsageError(
                    f"{folder} has the files of another chip: {_difference(key, found)}, not "
                    f"{_difference(key, description)}; {_REMEDY}")
    require_folder(folder)


def write_chip(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write the files of a chip, its manifest first, so that files of another chip never join them.

    Raises
    ------
    click.UsageError
        If there is no manifest yet, but one of the other files.
    """
    known = (folder / MANIFEST).exists()
    for name in files:
        if not known and (folder / name).exists():
            raise click.UsageError(f"{folder / name} is there, and no {MANIFEST} says which chip "
                                   f"it is of; {_REMEDY}")
    for name in sorted(files, key=MANIFEST.__ne__):
        content = files[name]
        write_durably(folder / name, content.encode() if isinstance(content, str) else content)


def _difference(key: str, description: Mapping[str, Any]) -> str:
    if key == "configuration":
        return f"configuration hash {description.get('configuration_hash')}"
    value = description.get(key, _IDENTITY[key])
    return f"no {key}" if value is None else f"{key} {json.dumps(value)}"
