# SPDX-License-Identifier: BSD-2-Clause
"""Resources that the chip of the boards with HBM takes, by open synthesis, block by block."""

from collections.abc import Callable, Iterator

from hypercast.benches.figure import Figure
from hypercast.boards.fpga import FPGAS
from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.host.eda.area_cache import cached_areas
from hypercast.host.eda.chip_area import ChipArea, chip_area
from hypercast.host.eda.chip_blocks import SYSTOLIC
from hypercast.host.eda.families import FAMILIES, Area
from hypercast.host.eda.module_texts import ModuleTexts
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.rtlil import to_rtlil

__all__ = ["run"]

_FAMILY = "ultrascale+"
_PART = "XCVU37P"
_FPGA = FPGAS[_PART]
_AVAILABLE = {"LUT": _FPGA.luts, "DSP": _FPGA.multipliers,
              **dict(zip(("block RAM", "UltraRAM"), (count for _, count in _FPGA.rams),
                         strict=True))}
_CONFIG = PRESETS[HBM_BOARDS["vcu128"].preset]
#: Share that may be taken: the vendor's IP for HBM and PCIe comes on top.
_BAR = 0.8
#: Memories of accumulators. One of the receiver's aggregators is looked at by itself.
_AGGREGATOR_ACCUMULATORS = "receiver.aggregator_0.accumulators"
_ARRAY_ACCUMULATORS = "array.accumulators"


def run(progress: Callable[[str], None]) -> list[Figure]:
    """Figures of the bench."""
    area = chip_area(_CONFIG, _FAMILY, external=True, progress=progress)
    with_port = chip_area(_CONFIG, _FAMILY, external=True, bulk=True, progress=progress)
    accumulators = _aggregator_accumulators(progress)
    blocks = {**area.blocks, "control unit": area.control, _AGGREGATOR_ACCUMULATORS: accumulators}
    return [*_shares(area), *_bulk_shares(with_port), *_mapping(area, accumulators),
            *(Figure(name=f"{_PART}, {name}: {kind}", value=value)
              for name, block in blocks.items() for kind, value in block.tally.items())]


def _aggregator_accumulators(progress: Callable[[str], None]) -> Area:
    from hypercast.rtl.lib.accumulator_memory import AccumulatorMemory

    texts = ModuleTexts(to_rtlil(
        AccumulatorMemory(_CONFIG, 2 * _CONFIG.strip_rows), "accumulators"))
    [area] = cached_areas([texts.alone("accumulators")], FAMILIES[_FAMILY], progress).values()
    return area


def _shares(area: ChipArea) -> Iterator[Figure]:
    for kind, available in _AVAILABLE.items():
        yield Figure(name=f"{_PART}: {kind} of {available}, share of {_CONFIG.cores} cores and the "
                          f"control unit",
                     value=area.total.tally[kind] / available, bar=_BAR, relation="<=")


def _bulk_shares(area: ChipArea) -> Iterator[Figure]:
    """Without a bar: boards have the port only if asked for."""
    for kind, available in _AVAILABLE.items():
        yield Figure(name=f"{_PART}, with a bulk port: {kind}, share",
                     value=area.total.tally[kind] / available)


def _mapping(area: ChipArea, accumulators: Area) -> Iterator[Figure]:
    yield Figure(name=f"{_PART}: DSPs of the systolic array per multiply-accumulate",
                 value=area.blocks[SYSTOLIC].dsps / _CONFIG.lanes**2, bar=1, relation="=")
    yield Figure(name=f"{_PART}: accumulator memories' LUTs and memories in flip-flops",
                 value=sum(block.ram_luts + block.scattered_memories for block in (
                     area.blocks[_ARRAY_ACCUMULATORS], accumulators)), bar=0, relation="=")
