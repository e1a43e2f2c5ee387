# SPDX-License-Identifier: BSD-2-Clause
"""A chip's area on an FPGA without synthesis: estimated from counts of its netlist.

Bits of operations are counted block by block in the netlist (``netlist_counts``), and memories
are mapped to RAMs by rules (``memory_mapping``). Two things were fitted to chips that were
synthesised: weights, the LUTs for a bit of each operation, and for each block the ratio of what was
synthesised to what was counted. ``area_fit`` makes them anew. Between the chips that it was fitted
to, a block's ratio is interpolated by its size.
"""

import functools
import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hypercast.cache import ensure
from hypercast.errors import InputError
from hypercast.host.eda.chip_area import ChipArea
from hypercast.host.eda.chip_blocks import control_design, core_blocks
from hypercast.host.eda.families import Area
from hypercast.host.eda.memory_mapping import RAMS
from hypercast.host.eda.netlist_counts import Counts, NetlistMemory, count
from hypercast.host.files.durable_file import write_durably
from hypercast.host.files.reading.json_file import read_json
from hypercast.rtl.config import Config
from hypercast.rtl.export.manifest import memories
from hypercast.rtl.lib.ram_style import ram_style
from hypercast.sim.library_build import source_digest

__all__ = ["CONTROL", "FIT", "FOLDED_CORE", "KINDS", "chip_counts", "counted_area",
           "estimated_area", "fitted_families", "folded_counts", "resize_memories"]

#: What was fitted: for each family the weights, and for each block what was counted and what was
#: synthesised.
FIT = Path(__file__).with_name("area_fit.json")
#: What is estimated of each block.
KINDS = ("luts", "ram_luts", "flip_flops", "block_rams", "ultra_rams", "dsps")
#: The file of what is kept of a chip.
_COUNTS = "counts.json"
#: The control unit, among the blocks.
CONTROL = "control unit"
#: All blocks of a core that is folded, see ``rtl/folding``.
FOLDED_CORE = "folded core"
#: The block that each large memory of the manifest is in.
_BLOCKS = {
    "memory channel": "channel", "weight bank": "weights",
    "array accumulators": "array.accumulators", "aggregation accumulators": "receiver",
    "operand buffer": "array.feed", "gradient panel": "array.feed",
    "right operands": "array.feed", "rows to be sent": "sender", "logits": "vector",
    "program": CONTROL,
}
#: Bits that each operand of a DSP has.
_FACTOR_BITS = 18


def chip_counts(config: Config, *, external: bool,
                shape: Config | None = None) -> dict[str, Counts]:
    """Counts of each block of a core, and of the control unit, by name.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    external : bool
        Whether the memory channels' memory is outside of the chip.
    shape : Config, optional
        One that differs in sizes of memories only, to be counted instead: memories are resized, but
        not what addresses them. That saves converting chips that are nearly the same.
    """
    counts = _count_chip(shape or config, external)
    return resize_memories(counts, shape, config, external=external) if shape else counts


@functools.lru_cache(maxsize=256)
def _count_chip(config: Config, external: bool) -> dict[str, Counts]:
    """Counts of a chip; from the disk if they were counted before in the same sources."""
    key = json.dumps([source_digest(), config.to_dict(), external], sort_keys=True)
    digest = hashlib.sha256(key.encode()).hexdigest()[:32]

    def make(entry: Path) -> None:
        found: dict[str, Counts] = {}
        for block in core_blocks(config, external=external):
            found.setdefault(block.name, Counts()).add(count(block.design))
        found[CONTROL] = count(control_design(config))
        write_durably(entry / _COUNTS, json.dumps(
            {name: one.to_dict() for name, one in found.items()}).encode())

    return {name: Counts.of(values) for name, values in
            read_json(ensure("counts", digest, make) / _COUNTS).items()}


def resize_memories(counts: Mapping[str, Counts], before: Config, after: Config, *,
                    external: bool) -> dict[str, Counts]:
    """Counts with the large memories of another configuration."""
    found = {name: replace(one, memories=list(one.memories)) for name, one in counts.items()}
    sizes = list(zip(_memories(before, external), _memories(after, external), strict=True))
    for (block, old, times, asks), (_, new, _, _) in sizes:
        memories = found[block].memories
        for place in [place for place, memory in enumerate(counts[block].memories)
                      if (memory.words, memory.width) == old and memories[place].words == old[0]
                      ][:times]:
            style = ram_style(*new).get("ram_style", "") if asks else memories[place].style
            memories[place] = replace(memories[place], words=new[0], width=new[1], style=style)
    return found


def _memories(config: Config, external: bool) -> Iterator[tuple[str, tuple[int, int], int, bool]]:
    """Blocks with large memories: words, width, how many a core has, and whether they ask for a
    kind of RAM by their size.
    """
    for item in memories(config, external=external):
        name = item["name"].partition(" (")[0]
        cores = 1 if _BLOCKS[name] == CONTROL else config.cores
        yield _BLOCKS[name], (item["words"], item["width"]), item["instances"] // cores, True
    yield "receiver", (config.streams // config.eject * config.edge_buffer,
                       config.word_width), config.eject, False


def counted_area(counts: Counts, family: str, weights: Mapping[str, float]) -> Area:
    """A block's area, by weights and rules alone."""
    memories = sum((RAMS[family].area(memory) for memory in counts.memories), start=Area())
    dsps = sum(-(-left // _FACTOR_BITS) * -(-right // _FACTOR_BITS)
               for left, right in counts.products)
    luts = sum(weights.get(kind, 0) * bits for kind, bits in counts.bits.items())
    return memories + Area(luts=round(luts), flip_flops=counts.bits["register"], dsps=dsps)


def folded_counts(counts: Mapping[str, Counts], cores: int) -> dict[str, Counts]:
    """Counts of a folded chip, from the counts of a core's blocks.

    Memories are as many times as deep, and read synchronously; registers are in such a memory, too.
    """
    core = Counts()
    for name, block in counts.items():
        if name != CONTROL:
            core.add(block)
    core.memories = [replace(memory, words=memory.words * cores, registered=True)
                     for memory in core.memories if memory.words > 1]
    core.memories.append(NetlistMemory(words=cores, width=core.bits["register"], registered=True,
                                       style="distributed"))
    core.bits["register"] = 0
    return {FOLDED_CORE: core, CONTROL: counts[CONTROL]}


def fitted_families() -> list[str]:
    """The families that there are estimates for."""
    return list(_fit())


def estimated_area(config: Config, family: str, *, external: bool, folded: bool = False,
                   shape: Config | None = None) -> ChipArea:
    """An estimate of what ``chip_area`` gives.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    family : str
        One of ``fitted_families``.
    external : bool
        Whether the memory channels' memory is outside of the chip.
    folded : bool
        Whether all cores are folded into one.
    shape : Config, optional
        As of ``chip_counts``.

    Raises
    ------
    InputError
        If the model was not fitted for the family.
    """
    fit = _fit()
    if family not in fit:
        raise InputError(f"there is no estimate for {family}, only for {', '.join(fit)}; leave out "
                         f"--estimate, and it is synthesised")
    known = fit[family]
    counts = chip_counts(config, external=external, shape=shape)
    if folded:
        counts = folded_counts(counts, config.cores)
    blocks = {name: _correct(counted_area(count, family, known["weights"]),
                             known["blocks"].get(name, []))
              for name, count in counts.items()}
    control = blocks.pop(CONTROL)
    return ChipArea(cores=1 if folded else config.cores, blocks=dict(sorted(blocks.items())),
                    control=control)


@functools.cache
def _fit() -> dict[str, Any]:
    found: dict[str, Any] = read_json(FIT)["families"]
    return found


def _correct(counted: Area, known: Sequence[Mapping[str, Sequence[float]]]) -> Area:
    """A count, as chips were synthesised whose blocks had the counts that are known."""
    values = {}
    for kind in KINDS:
        value = _interpolate(getattr(counted, kind), sorted(
           tuple(one[kind]) for one in known if kind in one))
        values[kind] = round(2 * value) / 2 if kind == "block_rams" else round(value)
    return Area(**values)  # type: ignore[arg-type]


def _interpolate(counted: float, known: Sequence[Sequence[float]]) -> float:
    """A count times the ratio of the nearest counts that are known, by their logarithms.

    Parameters
    ----------
    counted : float
        The count.
    known : sequence of (float, float)
        Counts in order, and what they became.
    """
    points = [(math.log1p(before), math.log1p(after) - math.log1p(before))
              for before, after in known]
    if not points:
        return counted
    places = [place for place, _ in points]
    if any(first == second for first, second in pairwise(places)):
        points = [(place, float(np.mean([ratio for other, ratio in points if other == place])))
                  for place in dict.fromkeys(places)]
    here = math.log1p(counted)
    ratio = float(np.interp(here, [place for place, _ in points], [one for _, one in points]))
    return math.expm1(here + ratio)
