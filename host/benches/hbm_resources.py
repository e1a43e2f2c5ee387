"""What the chip of the boards with HBM takes of their FPGA, by open synthesis, block by block."""

import os
from concurrent.futures import ThreadPoolExecutor

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.host.benches.figure import Figure
from hypercast.host.synthesis import FAMILIES, submodules, synthesise
from hypercast.rtl.config import PRESETS

__all__ = ["run"]

#: The FPGA, and what it has (UltraScale+ FPGAs product tables, AMD XMP103).
_PART = "XCVU37P"
_AVAILABLE = {"LUT": 1_303_680, "DSP": 9_024, "block RAM": 2_016, "UltraRAM": 960}
_FAMILY = FAMILIES["UltraScale+"]
_CONFIG = PRESETS[HBM_BOARDS["vcu128"].preset]
#: Share that may be taken: the vendor's IP for HBM and PCIe comes on top.
_BAR = 0.8


def run(progress):
    """The figures."""
    from amaranth.back import rtlil

    from hypercast.rtl.control.control_unit import ControlUnit
    from hypercast.rtl.core import Core

    progress("converting a core and the control unit to RTLIL")
    core = rtlil.convert(Core(_CONFIG, external=True), name="core")
    control = rtlil.convert(ControlUnit(_CONFIG), name="control")
    array = submodules(core, submodules(core, "core")["array"])
    # Each block by itself: Yosys' time grows faster than a design.
    parts = {name: (core, module) for name, module in submodules(core, "core").items()}
    extracts = {"control unit": (control, "control"), "systolic array": (core, array["array"]),
                "accumulators": (core, array["accumulators"])}
    progress(f"synthesising {len(parts) + len(extracts)} blocks for UltraScale+")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {name: pool.submit(synthesise, design, _FAMILY, top=module)
                   for name, (design, module) in {**parts, **extracts}.items()}
        areas = {name: future.result() for name, future in running.items()}
    return [*_shares([areas[name] for name in parts], areas["control unit"]),
            *_mapping(areas["systolic array"], areas["accumulators"]),
            *(figure for name, area in areas.items() for figure in _block(name, area))]


def _taken(area):
    """What is counted of an FPGA."""
    return {"LUT": area.luts + area.ram_luts, "DSP": area.dsps, "block RAM": area.block_rams,
            "UltraRAM": area.ultra_rams}


def _shares(parts, control):
    for kind, available in _AVAILABLE.items():
        taken = _taken(control)[kind] + _CONFIG.cores * sum(_taken(area)[kind] for area in parts)
        yield Figure(name=f"{_PART}: {kind} of {available}, share, sum of the blocks of "
                          f"{_CONFIG.cores} cores and the control unit",
                     value=taken / available, bar=_BAR, relation="<=")


def _mapping(array, accumulators):
    return [
        Figure(name=f"{_PART}: DSPs of the systolic array per multiply-accumulate",
               value=array.dsps / _CONFIG.lanes**2, bar=1, relation="="),
        Figure(name=f"{_PART}: accumulator memories' LUTs and memories in flip-flops",
               value=accumulators.ram_luts + accumulators.scattered_memories, bar=0,
               relation="="),
    ]


def _block(name, area):
    taken = {**_taken(area), "flip-flop": area.flip_flops}
    return [Figure(name=f"{_PART}, {name}: {kind}", value=value)
            for kind, value in taken.items()]
