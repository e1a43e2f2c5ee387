# SPDX-License-Identifier: BSD-2-Clause
"""Where a training lies in the memories of a core."""

import re
from typing import NamedTuple

from docs.figures.drawing import Drawing
from docs.figures.training import trainer
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.job import Job

__all__ = ["draw"]

#: What regions hold, and their tone, by how their names begin.
_KINDS = {
    "X": ("input features, non-zero words", "compute"),
    "T": ("features times weights", "compute"),
    "H": ("output of the layer", "compute"),
    "Z": ("logits", "compute"),
    "dT": ("gradient of {}", "network"),
    "dZ": ("gradient of the layer's sums", "network"),
    "mask": ("where ReLU and dropout let pass", "network"),
    "send list": ("which cores need each row", "control"),
    "edge set": ("weights and rows of edges", "control"),
    "index": ("where each panel of X begins", "control"),
    "labels": ("classes and splits", "control"),
    "state": ("master weights and momenta", "memory"),
    "W": ("weights", "memory"),
    "b": ("bias", "memory"),
}
_TOP, _ROW, _HEIGHT = 84, 36, 432
_COLUMN, _BAR, _LEAD = 258, 26, 22


class _Region(NamedTuple):
    name: str
    address: int
    words: int

    @property
    def kind(self) -> str:
        """The key of ``_KINDS``: the longest with which the name begins."""
        return max((kind for kind in _KINDS if self.name.startswith(kind)), key=len)


def _memories(job: Job) -> dict[str, list[_Region]]:
    """Each memory's regions, by address; those of an evaluation lie where a step's do."""
    found = {f"channel {channel}": [
        _Region(name, region.address, region.words) for name, region in job.regions.items()
        if region.channel == channel and name == region.name] for channel in range(2)}
    found["weight bank"] = [
        _Region(name, place.base, place.rows) for name, place in job.weights.items()]
    return {memory: sorted(regions, key=lambda region: region.address)
            for memory, regions in found.items()}


def draw() -> Drawing:
    """The memories of the training in ``training``: to scale at the left of each column."""
    with trainer() as training:
        config = training.device.config
        job = compile_job(training.initial, config)
    drawing = Drawing(800, 548, "Memory map of a training: what lies in a core's two memory "
                                "channels and in its weight bank")
    drawing.legend(24, 32, [("compute", "features"), ("network", "gradients"),
                            ("control", "lists"), ("memory", "weights and their state")])
    for number, (memory, regions) in enumerate(_memories(job).items()):
        x = 24 + _COLUMN * number
        capacity = config.weight_rows if memory == "weight bank" else config.channel_words
        used = max(region.address + region.words for region in regions)
        drawing.text(x, _TOP - 20, memory, size=14, bold=True)
        drawing.text(_right(x), _TOP - 20, f"{used:,} of {capacity:,} words", size=11,
                     anchor="end", muted=True)
        _column(drawing, x, regions, used)
    return drawing


def _column(drawing: Drawing, x: float, regions: list[_Region], used: int) -> None:
    """A bar to scale, and a row for each region."""
    edges = [(_TOP + _HEIGHT * region.address / used,
              _TOP + _HEIGHT * (region.address + region.words) / used) for region in regions]
    rows = _rows([(top + bottom) / 2 for top, bottom in edges])
    for region, (top, bottom), row in zip(regions, edges, rows, strict=True):
        meaning, tone = _KINDS[region.kind]
        left, right = x + _BAR, x + _BAR + _LEAD
        drawing.area([(left, top), (right, row + 2), (right, row + _ROW - 2), (left, bottom)], tone)
        drawing.bar(x, top, _BAR, max(bottom - top - 0.8, 0.8), tone)
        drawing.text(right + 6, row + 15, _short(region.name), bold=True)
        drawing.text(_right(x), row + 15, f"{region.words:,} words at {region.address:,}",
                     size=10, anchor="end", muted=True)
        drawing.text(right + 6, row + 29, meaning.format(region.name[1:]), size=10, muted=True)


def _rows(centres: list[float]) -> list[float]:
    """Where rows begin: as close as may be to where their regions are, and none over another."""
    rows: list[float] = []
    for centre in centres:
        rows.append(max(centre - _ROW / 2, rows[-1] + _ROW if rows else _TOP))
    limit = float(_TOP + _HEIGHT)
    for number in reversed(range(len(rows))):
        limit = rows[number] = min(rows[number], limit - _ROW)
    return rows


def _right(x: float) -> float:
    """Right edge of a column."""
    return x + _COLUMN - 22


def _short(name: str) -> str:
    """A region's name without the strip of rows, of which there is one here."""
    return re.sub(r" of A, rows from 0$|, panels from 0$", "", name)
