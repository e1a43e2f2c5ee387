"""Area of one router, by open synthesis."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

from hypercast.host.benches.figure import Figure
from hypercast.host.eda.area_cache import cached_areas
from hypercast.host.eda.families import FAMILIES
from hypercast.host.eda.module_texts import ModuleTexts
from hypercast.rtl.config import Config
from hypercast.rtl.export.rtlil import to_rtlil

__all__ = ["CONFIGS", "run"]

#: The routers; 16-bit elements, 4 dimensions, 1 ejection port, buffers of 4 flits.
CONFIGS = {f"{planes} {'plane' if planes == 1 else 'planes'}, P = {lanes}":
           Config(planes=planes, lanes=lanes)
           for planes, lanes in product((1, 2, 4), (4, 16))}
#: Families for which routers are synthesised.
_ROUTER_FAMILIES = ("ecp5", "7series", "ultrascale+")


def _figures(name, area):
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
    return list(_routers(progress))


def _routers(progress):
    from hypercast.rtl.network.router import Router

    progress("converting the routers to RTLIL")
    designs = {name: ModuleTexts(to_rtlil(Router(config), "router")).alone("router")
               for name, config in CONFIGS.items()}
    for family in (FAMILIES[name] for name in _ROUTER_FAMILIES):
        areas = cached_areas(designs.values(), family, progress)
        for name, design in designs.items():
            yield from _figures(f"{family.title}, {name}", areas[design])
