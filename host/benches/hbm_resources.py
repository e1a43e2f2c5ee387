"""What the chip of the boards with HBM takes of their FPGA, by open synthesis, block by block."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.host.benches.figure import Figure
from hypercast.host.eda.synthesis import FAMILIES, submodules, synthesise
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.rtlil import to_rtlil

__all__ = ["run"]

#: The FPGA, and what it has (UltraScale+ FPGAs product tables, AMD XMP103).
_PART = "XCVU37P"
_AVAILABLE = {"LUT": 1_303_680, "DSP": 9_024, "block RAM": 2_016, "UltraRAM": 960}
_CONFIG = PRESETS[HBM_BOARDS["vcu128"].preset]
#: Share that may be taken: the vendor's IP for HBM and PCIe comes on top.
_BAR = 0.8
#: The systolic array, whose cells are a DSP slice each, with adder and registers: Yosys can use
#: these of the 7 series, but of UltraScale+'s, which are the same there, only the multiplier.
_SYSTOLIC, _SYSTOLIC_FAMILY = "array.array", "7 series"
#: Memories of accumulators. One of the receiver's aggregators is also looked at by itself.
_AGGREGATOR_ACCUMULATORS = "receiver.aggregator_0.accumulators"
_ACCUMULATORS = ("array.accumulators", _AGGREGATOR_ACCUMULATORS)


def run(progress: Callable[[str], None]) -> list[Figure]:
    """Figures of the bench."""

    from hypercast.rtl.control.control_unit import ControlUnit
    from hypercast.rtl.core import Core

    progress("converting a core and the control unit to RTLIL")
    core = to_rtlil(Core(_CONFIG, external=True), "core")
    control = to_rtlil(ControlUnit(_CONFIG), "control")
    # Each block by itself, and those of the array, which is one of them, too: Yosys' time grows
    # faster than a design.
    parts = submodules(core, "core")
    array = submodules(core, parts["array"])
    aggregator = submodules(core, submodules(core, parts["receiver"])["aggregator_0"])
    blocks = {
        **{name: (core, module, ()) for name, module in parts.items() if name != "array"},
        **{f"array.{name}": (core, module, ()) for name, module in array.items()},
        "wires of the array": (core, parts["array"], array.values()),
        "wires of the core": (core, "core", parts.values()),
        "control unit": (control, "control", ()),
        _AGGREGATOR_ACCUMULATORS: (core, aggregator["accumulators"], ()),
    }
    progress(f"synthesising {len(blocks)} blocks for {_PART}")

    def area(name):
        design, module, without = blocks[name]
        family = _SYSTOLIC_FAMILY if name == _SYSTOLIC else "UltraScale+"
        return synthesise(design, FAMILIES[family], top=module, without=without)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        areas = dict(zip(blocks, pool.map(area, blocks), strict=True))
    return [*_shares(areas), *_mapping(areas),
            *(figure for name, area in areas.items() for figure in _block(name, area))]


def _taken(area):
    """What is counted of an FPGA."""
    return {"LUT": area.lut_places, "DSP": area.dsps, "block RAM": area.block_rams,
            "UltraRAM": area.ultra_rams}


def _shares(areas):
    for kind, available in _AVAILABLE.items():
        taken = sum(_taken(area)[kind] * (1 if name == "control unit" else _CONFIG.cores)
                    for name, area in areas.items() if name != _AGGREGATOR_ACCUMULATORS)
        yield Figure(name=f"{_PART}: {kind} of {available}, share of {_CONFIG.cores} cores and the "
                          f"control unit",
                     value=taken / available, bar=_BAR, relation="<=")


def _mapping(areas):
    yield Figure(name=f"{_PART}: DSPs of the systolic array per multiply-accumulate",
                 value=areas[_SYSTOLIC].dsps / _CONFIG.lanes**2, bar=1, relation="=")
    yield Figure(name=f"{_PART}: accumulator memories' LUTs and memories in flip-flops",
                 value=sum(areas[name].ram_luts + areas[name].scattered_memories
                           for name in _ACCUMULATORS), bar=0, relation="=")


def _block(name, area):
    taken = {**_taken(area), "LUT as RAM": area.ram_luts, "flip-flop": area.flip_flops}
    return [Figure(name=f"{_PART}, {name}: {kind}", value=value)
            for kind, value in taken.items()]
