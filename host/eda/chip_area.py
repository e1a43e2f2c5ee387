# SPDX-License-Identifier: BSD-2-Clause
"""A chip's area on an FPGA, by synthesis: block by block, each once."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from hypercast.host.eda.area_cache import cached_areas
from hypercast.host.eda.chip_blocks import SYSTOLIC, control_design, core_blocks
from hypercast.host.eda.families import FAMILIES, Area
from hypercast.rtl.config import Config

__all__ = ["ChipArea", "chip_area", "has_memory_outside"]


@dataclass(frozen=True, kw_only=True)
class ChipArea:
    """The area of a chip.

    Parameters
    ----------
    cores : int
        Number of cores.
    blocks : dict
        ``Area`` of each block of one core, by name; what joins them is a block, too.
    control : Area
        Area of the control unit.
    """

    cores: int
    blocks: dict[str, Area]
    control: Area

    @property
    def core(self) -> Area:
        """The area of one core."""
        return sum(self.blocks.values(), start=Area())

    @property
    def total(self) -> Area:
        """The area of all cores and the control unit."""
        return self.core * self.cores + self.control


def has_memory_outside(config: Config) -> bool:
    """Whether a configuration's channels are simulated, so that others have to be built."""
    return config.memory_latency > 1 or config.memory_stalls


def chip_area(config: Config, family: str, *, external: bool, bulk: bool = False,
              progress: Callable[[str], None] = lambda text: None) -> ChipArea:
    """A chip's area on an FPGA, by synthesis or from the cache of earlier ones.

    Blocks are synthesised by themselves, out of context. So nothing is shared between them, or
    simplified because of what another one does.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    family : str
        One of ``FAMILIES``.
    external : bool
        Whether the memory channels' memory is outside of the chip.
    bulk : bool
        Whether the chip has a bulk port.
    progress : callable
        Called with a line of text before each slow step.

    Raises
    ------
    ToolError
        If Yosys fails, or uses a cell whose area is not known.
    """
    progress("converting a core and the control unit to RTLIL")
    found = core_blocks(config, external=external, bulk=bulk)
    control = control_design(config, bulk=bulk)
    designs = defaultdict(set, {family: {control}})
    for block in found:
        designs[_family(block.name, family)].add(block.design)
    areas = {name: cached_areas(texts, FAMILIES[name], progress)
             for name, texts in designs.items()}
    blocks: dict[str, Area] = defaultdict(Area)
    for block in found:
        blocks[block.name] += areas[_family(block.name, family)][block.design]
    return ChipArea(cores=config.cores, blocks=dict(sorted(blocks.items())),
                    control=areas[family][control])


def _family(block: str, family: str) -> str:
    """The family that a block is synthesised for."""
    return FAMILIES[family].systolic or family if block == SYSTOLIC else family
