# SPDX-License-Identifier: BSD-2-Clause
"""A board as a target of the search for configurations: its FPGA, its clock, and its limits."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypercast.boards.fpga import FPGAS, Fpga
from hypercast.boards.hbm_board import CLOCK, HBM_BOARDS
from hypercast.boards.hbm_board import check as check_channels
from hypercast.boards.serial_board import SERIAL_BOARDS, is_folded
from hypercast.boards.zynq_board import ZYNQ_BOARDS, check_memory
from hypercast.errors import InputError
from hypercast.host.eda.area_model import estimated_area, fitted_families
from hypercast.host.eda.families import FAMILIES
from hypercast.rtl.config import PRESETS, Config

__all__ = ["Target", "target_of"]

#: Share of each resource that may be taken: what connects the chip to the board, and room to place
#: and route, come on top. With HBM, a fifth of each is left, as ``hypercast bench board`` asks for.
_ROOM = {"LUT": 0.8, "flip-flop": 0.8, "DSP": 1.0, "block RAM": 1.0, "UltraRAM": 1.0}
_HBM_ROOM = dict.fromkeys(_ROOM, 0.8)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A board.

    Parameters
    ----------
    name : str
        Name of the target.
    fpga : Fpga
        What its FPGA has.
    family : str
        One of ``FAMILIES``.
    clock : float
        Frequency in Hz, as its project has it.
    preset : str
        The configuration that suits it.
    external : bool
        Whether the memory channels are outside of the FPGA.
    folds : bool
        Whether chips of more than four cores are folded.
    check : callable
        Raises ``ConfigurationError`` for what the board's memory does not allow.
    room : dict
        Share of each resource that may be taken.
    """

    name: str
    fpga: Fpga
    family: str
    clock: float
    preset: str
    external: bool
    folds: bool
    check: Callable[[Config], None]
    room: dict[str, float] = field(default_factory=lambda: _ROOM)

    @property
    def config(self) -> Config:
        """The configuration that suits it."""
        return PRESETS[self.preset]

    def seconds(self, cycles: int, config: Config) -> float:
        """Time of cycles of the chip."""
        return cycles * (config.cores if self.is_folded(config) else 1) / self.clock

    def is_folded(self, config: Config) -> bool:
        """Whether a chip is folded on it."""
        return self.folds and is_folded(config)

    def shares(self, config: Config, shape: Config | None = None) -> dict[str, float]:
        """Estimated share of each resource that a chip takes; ``shape`` as of ``chip_counts``."""
        area = estimated_area(config, self.family, external=self.external,
                              folded=self.is_folded(config), shape=shape).total
        rams = {"block RAM": 0, "UltraRAM": 0} | {
            kind: count for kind, (_, count) in zip(
                ("block RAM", "UltraRAM"), self.fpga.rams, strict=False)}
        available = {"LUT": self.fpga.luts, "flip-flop": self.fpga.flip_flops,
                     "DSP": self.fpga.multipliers, **rams}
        return {kind: area.tally[kind] / count if count else float(area.tally[kind] > 0) * 9
                for kind, count in available.items()}

    def fits(self, shares: dict[str, float]) -> bool:
        """Whether there is room for a chip."""
        return all(share <= self.room[kind] for kind, share in shares.items())


def target_of(name: str) -> Target:
    """The board of a name.

    Raises
    ------
    InputError
        If there are no estimates for its FPGA.
    """
    board: Any = (HBM_BOARDS | SERIAL_BOARDS | ZYNQ_BOARDS)[name]
    fpga = FPGAS[board.fpga]
    families = {family.title: key for key, family in FAMILIES.items()}
    family = families.get(fpga.family, "")
    if family not in fitted_families():
        raise InputError(_without_estimate(name, fpga.family, family))
    check, clock = _anything, float(CLOCK)
    if name in HBM_BOARDS:
        check = functools.partial(check_channels, HBM_BOARDS[name])
    elif name in ZYNQ_BOARDS:
        check, clock = functools.partial(check_memory, ZYNQ_BOARDS[name]), board.frequency * 1e6
    else:
        clock = float(board.frequency)
    return Target(name=name, fpga=fpga, family=family, clock=clock, preset=board.preset,
                  external=name not in SERIAL_BOARDS, folds=name in SERIAL_BOARDS, check=check,
                  room=_HBM_ROOM if name in HBM_BOARDS else _ROOM)


def _without_estimate(name: str, maker: str, family: str) -> str:
    """A refusal of estimates for a board, with the remedy."""
    boards = HBM_BOARDS | SERIAL_BOARDS | ZYNQ_BOARDS
    titles = {FAMILIES[key].title for key in fitted_families()}
    known = ", ".join(sorted(one for one, board in boards.items()
                             if FPGAS[board.fpga].family in titles))
    remedy = (f"synthesise one: hypercast area --family {family} -P FIELD=VALUE" if family else
              "let its maker's tools say what one takes: hypercast build")
    return (f"there is no estimate of area for {maker}, the FPGA of {name}, so its configurations "
            f"cannot be compared; take a board that has one ({known}), or {remedy}. "
            f"hypercast model predicts the cycles of a configuration on any board")


def _anything(config: Config) -> None:
    """All memory is in the FPGA, which has to have room for it."""
