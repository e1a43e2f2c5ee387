"""Area of one router, by open synthesis."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from hypercast.host.benches.figure import Figure
from hypercast.host.eda.synthesis import FAMILIES, synthesise
from hypercast.rtl.config import Config
from hypercast.rtl.export.rtlil import to_rtlil

__all__ = ["CONFIGS", "run"]

#: The routers; 16-bit elements, 4 dimensions, 1 ejection port, buffers of 4 flits.
CONFIGS = {f"{planes} {'plane' if planes == 1 else 'planes'}, P = {lanes}":
           Config(planes=planes, lanes=lanes)
           for planes, lanes in product((1, 2, 4), (4, 16))}


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

    from hypercast.rtl.network.router import Router

    progress("converting the routers to RTLIL")
    designs = {name: to_rtlil(Router(config), "router")
               for name, config in CONFIGS.items()}
    progress(f"synthesising {len(designs)} routers for {' and '.join(FAMILIES)}")
    # Each synthesis is a process of its own, with one thread; the largest come first.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        areas = {(family, name): pool.submit(synthesise, designs[name], FAMILIES[family])
                 for name in sorted(designs, key=lambda name: -len(designs[name]))
                 for family in FAMILIES}
        return [figure for family, name in product(FAMILIES, designs)
                for figure in _figures(f"{family}, {name}", areas[family, name].result())]
