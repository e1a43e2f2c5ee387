# SPDX-License-Identifier: BSD-2-Clause
"""Estimated area against synthesis, and the area of one router."""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

from hypercast.benches.figure import Figure
from hypercast.host.eda.area_cache import cached_areas
from hypercast.host.eda.area_model import estimated_area
from hypercast.host.eda.chip_area import chip_area
from hypercast.host.eda.families import FAMILIES, Area
from hypercast.host.eda.module_texts import ModuleTexts
from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.export.rtlil import to_rtlil

__all__ = ["CONFIGS", "TESTED", "run"]

#: The routers; 16-bit elements, 4 dimensions, 1 ejection port, buffers of 4 flits.
CONFIGS = {f"{planes} {'plane' if planes == 1 else 'planes'}, P = {lanes}":
           Config(planes=planes, lanes=lanes)
           for planes, lanes in product((1, 2, 4), (4, 16))}
#: Chips that the area model was not fitted to, by family, and the largest error that it may make.
TESTED = {
    "ecp5": (PRESETS["test"].replace(element_width=8, adam=False), PRESETS["demo"],
             PRESETS["ulx3s"].replace(planes=1, dimensions=2, read_buffer=16)),
    "ultrascale+": (PRESETS["tiny"], PRESETS["test"],
                    PRESETS["demo"].replace(planes=4, eject=4, edge_buffer=8),
                    PRESETS["test"].replace(lanes=8, planes=1, element_width=8),
                    PRESETS["test"].replace(lanes=2, dimensions=3, buffer_depth=8, adam=False)),
}
_ERROR = 0.15
#: Resources that are compared, and how many must be in a chip for an error to matter.
_COMPARED = {"LUT": 1_000, "flip-flop": 1_000, "DSP": 10, "block RAM": 10, "UltraRAM": 10}
#: Families for which routers are synthesised.
_ROUTER_FAMILIES = ("ecp5", "7series", "ultrascale+")


def _figures(name: str, area: Area) -> list[Figure]:
    return [
        Figure(name=f"{name}: logic", value=area.luts, unit="LUT"),
        Figure(name=f"{name}: distributed RAM", value=area.ram_luts, unit="LUT"),
        Figure(name=f"{name}: flip-flops", value=area.flip_flops),
        Figure(name=f"{name}: carry chains", value=area.carry_bits, unit="bits"),
        Figure(name=f"{name}: buffers that are not distributed RAM",
               value=area.scattered_memories + area.block_rams, bar=0, relation="="),
    ]


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    return [*_estimates(progress), *_routers(progress)]


def _title_progress(progress: Callable[[str], None], title: str) -> Callable[[str], None]:
    return lambda text: progress(f"{title}: {text}")


def _estimates(progress: Callable[[str], None]) -> Iterator[Figure]:
    for family, configs in TESTED.items():
        worst = 0.0
        for number, config in enumerate(configs, 1):
            title = f"{FAMILIES[family].title}, chip {number}"
            estimate = estimated_area(config, family, external=False).total.tally
            found = chip_area(config, family, external=False,
                              progress=_title_progress(progress, title)).total.tally
            for kind, least in _COMPARED.items():
                if max(found[kind], estimate[kind]) >= least:
                    error = abs(estimate[kind] / max(found[kind], 0.5) - 1)
                    worst = max(worst, error)
                    yield Figure(name=f"{title} ({config.hash:#010x}): {kind}, synthesised",
                                 value=found[kind])
                    yield Figure(name=f"{title} ({config.hash:#010x}): {kind}, error of the "
                                      f"estimate", value=error, bar=_ERROR, relation="<=")
        yield Figure(name=f"{FAMILIES[family].title}: largest error of an estimate", value=worst,
                     bar=_ERROR, relation="<=")


def _routers(progress: Callable[[str], None]) -> Iterator[Figure]:
    from hypercast.rtl.network.router import Router

    progress("converting the routers to RTLIL")
    designs = {name: ModuleTexts(to_rtlil(Router(config), "router")).alone("router")
               for name, config in CONFIGS.items()}
    for family in (FAMILIES[name] for name in _ROUTER_FAMILIES):
        areas = cached_areas(designs.values(), family, progress)
        for name, design in designs.items():
            yield from _figures(f"{family.title}, {name}", areas[design])
