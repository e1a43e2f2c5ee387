# SPDX-License-Identifier: BSD-2-Clause
"""Fits the area model to syntheses: ``python -m hypercast.host.eda.area_fit [FAMILY ...]``.

It synthesises the chips of ``FITTED``, unless the cache has them, and writes ``area_fit.json`` anew
for the families that are named, or else for all. That takes an hour or more.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

from hypercast.host.eda.area_cache import cached_areas
from hypercast.host.eda.area_model import (
    CONTROL,
    FIT,
    FOLDED_CORE,
    KINDS,
    chip_counts,
    counted_area,
    folded_counts,
)
from hypercast.host.eda.chip_area import chip_area, has_memory_outside
from hypercast.host.eda.families import FAMILIES, Area
from hypercast.host.eda.module_texts import ModuleTexts
from hypercast.host.eda.netlist_counts import Counts
from hypercast.host.files.durable_file import write_durably
from hypercast.host.files.reading.json_file import read_json
from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.folding.folded_chip import FOLDED_CORE_MODULE
from hypercast.rtl.folding.folded_parts import folded_parts_to_rtlil

__all__ = ["FITTED", "FOLDED", "fit", "main"]

#: The chips that the model is fitted to, by family.
FITTED: dict[str, tuple[Config, ...]] = {
    "ecp5": (PRESETS["tiny"], PRESETS["ulx3s"]),
    "ultrascale+": (PRESETS["demo"], PRESETS["vcu128"]),
}
#: The folded chips.
FOLDED = {"ecp5": PRESETS["ulx3s"]}
#: LUTs of a block below which errors count less and less.
_SMALL = 100


def fit(family: str, chips: Sequence[tuple[Mapping[str, Counts], Mapping[str, Area]]]
        ) -> dict[str, Any]:
    """The fitted weights of a family.

    Parameters
    ----------
    family : str
        The family.
    chips : list of (dict, dict)
        What every block of each chip was counted and synthesised to, by name.

    Returns
    -------
    dict
        ``weights`` of the kinds of operations, and for each of ``blocks`` what was counted and what
        was synthesised, by kind.
    """
    pairs = [(counts[name], areas[name]) for counts, areas in chips for name in counts]
    kinds = sorted({kind for counts, _ in pairs for kind in counts.bits} - {"register"})
    target = np.array([area.lut_places - area.ram_luts for _, area in pairs], dtype=float)
    scale = 1 / np.sqrt(np.maximum(target, 0) + _SMALL)
    matrix = np.array([[counts.bits[kind] for kind in kinds] for counts, _ in pairs], dtype=float)
    found, _ = nnls(matrix * scale[:, None], target * scale)
    weights = {kind: round(float(weight), 4)
               for kind, weight in zip(kinds, found, strict=True) if weight > 1e-4}
    blocks: dict[str, list[dict[str, list[float]]]] = {}
    for counts, areas in chips:
        for name in counts:
            blocks.setdefault(name, []).append(
                _pairs(counted_area(counts[name], family, weights), areas[name]))
    return {"weights": weights, "blocks": dict(sorted(blocks.items()))}


def _pairs(counted: Area, area: Area) -> dict[str, list[float]]:
    """Counted and synthesised resources, by kind."""
    synthesised = {kind: getattr(area, kind) for kind in KINDS} | {
        "luts": area.lut_places - area.ram_luts}
    return {kind: [getattr(counted, kind), value] for kind, value in synthesised.items()
            if value or getattr(counted, kind)}


def _fold(config: Config, family: str, weights: Mapping[str, float]) -> dict[str, list[float]]:
    """The pairs of a folded core."""
    counts = folded_counts(chip_counts(config, external=False), config.cores)[FOLDED_CORE]
    texts = ModuleTexts(folded_parts_to_rtlil(config)[FOLDED_CORE_MODULE])
    [area] = cached_areas([texts.alone(FOLDED_CORE_MODULE)], FAMILIES[family], print).values()
    return _pairs(counted_area(counts, family, weights), area)


def main(families: list[str]) -> None:
    """Synthesise, fit and write."""
    try:
        known = read_json(FIT)
    except ValueError:
        known = {"families": {}}
    for family in families or FITTED:
        chips = []
        for config in FITTED[family]:
            external = has_memory_outside(config)
            area = chip_area(config, family, external=external,
                             progress=lambda text: print(text, file=sys.stderr))
            chips.append((chip_counts(config, external=external),
                          {**area.blocks, CONTROL: area.control}))
        found = fit(family, chips)
        if family in FOLDED:
            found["blocks"][FOLDED_CORE] = [_fold(FOLDED[family], family, found["weights"])]
        known["families"][family] = {
            "chips": [config.to_dict() for config in FITTED[family]], **found}
        write_durably(FIT, (json.dumps(known, indent=1) + "\n").encode())
        print(f"fitted {family} to {len(chips)} chips", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
