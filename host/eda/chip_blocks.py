# SPDX-License-Identifier: BSD-2-Clause
"""Blocks of a chip that are synthesised by themselves."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hypercast.host.eda.module_texts import ModuleTexts
from hypercast.rtl.config import Config
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.core import Core
from hypercast.rtl.export.rtlil import to_rtlil

__all__ = ["SYSTOLIC", "WIRES", "Block", "control_design", "core_blocks"]

#: What of a block is left when its blocks are taken out.
WIRES = "wires of {}"
#: The systolic array, see ``Family``.
SYSTOLIC = "array.array"
#: Blocks of which each block is synthesised by itself: Yosys' time grows faster than a design.
_TAKEN_APART = ("core", "array")
#: The end of a block's name, if there are several such blocks.
_NUMBER = re.compile(r"(?:_|\$)\d+$")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of a core that is synthesised by itself.

    Parameters
    ----------
    name : str
        Name of the block; if there are several, without the number.
    design : str
        RTLIL text, as ``ModuleTexts.alone`` gives it.
    """

    name: str
    design: str


def core_blocks(config: Config, *, external: bool, bulk: bool = False) -> list[Block]:
    """All blocks of a core that are synthesised by themselves.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    external : bool
        Whether the memory channels' memory is outside of the chip, see ``Core``.
    bulk : bool
        Whether the chip has a bulk port.
    """
    texts = ModuleTexts(to_rtlil(Core(config, external=external, bulk=bulk), "core"))
    return list(_take_apart(texts, "core", "core"))


def control_design(config: Config, *, bulk: bool = False) -> str:
    """RTLIL text of the control unit, of a chip with a bulk port if asked for."""
    return ModuleTexts(to_rtlil(ControlUnit(config, bulk=bulk), "control")).alone("control")


def _take_apart(texts: ModuleTexts, module: str, name: str) -> Iterator[Block]:
    if name not in _TAKEN_APART:
        yield Block(name=name, design=texts.alone(module))
        return
    blocks = texts.parts(module)
    yield Block(name=WIRES.format(name), design=texts.alone(module, without=set(blocks.values())))
    for block, kind in blocks.items():
        path = block if name == "core" else f"{name}.{block}"
        yield from _take_apart(texts, kind, _NUMBER.sub("", path))
