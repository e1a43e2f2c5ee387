# SPDX-License-Identifier: BSD-2-Clause
"""A board of a cluster: its chip, its memory, and the way from there to its host."""

import reprlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

from hypercast.boards.hbm_board import CLOCK, HBM_BOARDS
from hypercast.boards.serial_board import SERIAL_BOARDS, is_folded
from hypercast.boards.zynq_board import ZYNQ_BOARDS
from hypercast.host.cluster.link import GIGABITS, MICROSECONDS, ClusterLink
from hypercast.host.description.conversion import DescriptionError, Within, check
from hypercast.host.description.device import Device
from hypercast.rtl.config import PRESETS, Config, ConfigurationError
from hypercast.rtl.isa import ADDRESS_WIDTH

__all__ = ["MOST_BOARDS", "NO_OVERLAP", "RESULTS", "ROWS", "Board", "board_of"]

#: When what a board has made leaves it: row by row while it is made; as a whole, while the board
#: computes something else; or as a whole, while the board waits.
ROWS, RESULTS, NO_OVERLAP = _TRANSFERS = ("rows", "results", "waiting")

#: Boards of a cluster.
MOST_BOARDS = 1024
_KINDS = HBM_BOARDS | SERIAL_BOARDS | ZYNQ_BOARDS
#: PCIe Gen3 x4: 31.5 Gb/s, four fifths of which are data; and a call of the operating system.
_PCIE = ClusterLink(bandwidth=25e9 / 8, latency=10e-6)
#: 3,000,000 baud: eight of ten bits are data, and a tenth of that frames and addresses; and a
#: turn of USB.
_SERIAL = ClusterLink(bandwidth=270e3, latency=1e-3)
#: A processor that writes to its own memory.
_MAPPED = ClusterLink(bandwidth=1e9, latency=1e-6)
#: Bytes of a channel of HBM.
_HBM_CHANNEL = 1 << 28
_FIELDS = {name: kind.type for name, kind in Config.__dataclass_fields__.items()}


@dataclass(frozen=True, kw_only=True)
class Board:
    """One board.

    Parameters
    ----------
    name : str
        Name of the board in the cluster.
    kind : str
        What it is: a name of ``hypercast build --board``.
    config : Config
        The board's chip, with memory channels as large as the board has room for.
    clock : float
        Cycles of the chip in a second; a folded chip has fewer than the FPGA.
    memory : int
        Bytes of all its memory channels.
    host : ClusterLink
        The way to its host.
    transfers : str
        When results leave it: ``ROWS``, ``RESULTS`` or ``NO_OVERLAP``.
    device : str, optional
        What trains in its place, as ``Device`` has it; what the training's description says if not
        given.
    """

    name: str
    kind: str
    config: Config
    clock: float
    memory: int
    host: ClusterLink
    transfers: str
    device: str | None = None

    @cached_property
    def speed(self) -> tuple[int, float]:
        """The properties that decide how fast it computes: the chip's hash, and its clock."""
        return self.config.hash, self.clock


#: Keys of a section, and their types. Each board is compared with each other one, so a thousand are
#: many. A chip has a clock of 1 kHz to 100 GHz, and up to a petabyte. The ways to it are as in
#: ``ClusterLink``.
_HINTS = {
    "board": str, "count": Annotated[int, Within(1, MOST_BOARDS)], "preset": str,
    "megahertz": Annotated[float, Within(1e-3, 1e5)],
    "gigabytes": Annotated[float, Within(1e-6, 1e6)],
    "host_gigabits": GIGABITS, "host_microseconds": MICROSECONDS, "transfers": str, "device": str,
    **_FIELDS}


def board_of(group: str, values: dict[str, Any]) -> list[Board]:
    """The boards of a section ``[boards.GROUP]``: ``count`` of them, GROUP-0, GROUP-1 and so on.

    Parameters
    ----------
    group : str
        Name of the group.
    values : dict
        Keys as read: ``board``, and what differs from that kind's usual.

    Raises
    ------
    DescriptionError
        If there is no such board, or a value is out of range.
    """
    section = f"boards.{group}"
    given = check(section, values, _HINTS)
    kind = given.pop("board", None)
    if kind not in _KINDS:
        raise DescriptionError(f"[{section}] board must be one of {', '.join(sorted(_KINDS))}, "
                               f"not {reprlib.repr(kind)}", section, "board")
    count = given.pop("count", 1)
    config = _config(section, kind, given)
    device = given.get("device")
    if device is not None and ("," in device or not _is_known(device)):
        raise DescriptionError(f"[{section}] device must be one that hypercast train --device "
                               f"takes for a board, not {reprlib.repr(device)}", section, "device")
    host, transfers = _way_out(kind)
    host = ClusterLink(bandwidth=_or(given.get("host_gigabits"), 1e9 / 8, host.bandwidth),
                       latency=_or(given.get("host_microseconds"), 1e-6, host.latency))
    transfers = given.get("transfers", transfers)
    if transfers not in _TRANSFERS:
        raise DescriptionError(f"[{section}] transfers must be {', '.join(_TRANSFERS[:-1])} or "
                               f"{_TRANSFERS[-1]}, not {reprlib.repr(transfers)}", section,
                               "transfers")
    board = Board(name=f"{group}-0", kind=kind, config=config,
                  clock=_or(given.get("megahertz"), 1e6, _clock(kind, config)),
                  memory=2 * config.cores * config.channel_bytes, host=host, transfers=transfers,
                  device=device)
    return [replace(board, name=f"{group}-{number}") for number in range(count)]


def _is_known(device: str) -> bool:
    """Whether there is such a device."""
    try:
        Device(device)
    except DescriptionError:
        return False
    return True


def _or(value: float | None, unit: float, otherwise: float) -> float:
    return otherwise if value is None else value * unit


def _config(section: str, kind: str, given: dict[str, Any]) -> Config:
    """The chip of a section; its channels have what memory the board has."""
    preset = given.get("preset", _KINDS[kind].preset)
    if preset not in PRESETS:
        raise DescriptionError(f"[{section}] preset must be one of {', '.join(PRESETS)}, not "
                               f"{reprlib.repr(preset)}", section, "preset")
    changes = {name: value for name, value in given.items() if name in _FIELDS}
    if "channel_words" in changes and given.get("gigabytes") is not None:
        raise DescriptionError(f"[{section}] has gigabytes and channel_words, which are the same "
                               f"memory; leave one out", section, "gigabytes")
    try:
        config = PRESETS[preset].replace(**changes)
    except ConfigurationError as error:
        key = next((name for name in changes if name in str(error)), "")
        raise DescriptionError(f"[{section}] {error}", section, key) from error
    if "channel_words" in changes:
        return config
    size: float | None = given.get("gigabytes")
    memory = None if size is None else int(size * 1e9)
    if memory is None and kind in HBM_BOARDS:
        memory = 2 * config.cores * _HBM_CHANNEL
    elif memory is None and kind in ZYNQ_BOARDS:
        memory = ZYNQ_BOARDS[kind].memory_size
    if memory is None:
        return config
    word = 2 * config.cores * config.word_width // 8  # a word of each channel
    words = memory // word
    if words < 64:
        raise DescriptionError(f"[{section}] gigabytes is {size}, which leaves {words} words for "
                               f"each memory channel; give more", section, "gigabytes")
    if words >= 2 << ADDRESS_WIDTH and size is not None:
        raise DescriptionError(f"[{section}] gigabytes is {size}, but this chip's addresses reach "
                               f"{(word << ADDRESS_WIDTH) / 1e9:g}; give that or less", section,
                               "gigabytes")
    words = min(words, 1 << ADDRESS_WIDTH)
    return config.replace(channel_words=1 << (words.bit_length() - 1))


def _clock(kind: str, config: Config) -> float:
    """Cycles of a chip in a second on a kind of board."""
    if kind in HBM_BOARDS:
        return float(CLOCK)
    if kind in ZYNQ_BOARDS:
        return ZYNQ_BOARDS[kind].frequency * 1e6
    return SERIAL_BOARDS[kind].frequency / (config.cores if is_folded(config) else 1)


def _way_out(kind: str) -> tuple[ClusterLink, str]:
    """The way from a kind of board to its host, and when it can be gone."""
    if kind in HBM_BOARDS:
        return _PCIE, RESULTS
    return (_SERIAL, NO_OVERLAP) if kind in SERIAL_BOARDS else (_MAPPED, NO_OVERLAP)
