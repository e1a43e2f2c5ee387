# SPDX-License-Identifier: BSD-2-Clause
"""Whether a configuration fits a board, before its project is made: bounds, then estimates."""

from collections.abc import Callable

from hypercast.boards.fpga import FPGAS
from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.boards.hbm_board import check as check_channels
from hypercast.boards.serial_board import SERIAL_BOARDS
from hypercast.boards.zynq_board import ZYNQ_BOARDS, check_memory
from hypercast.errors import InputError
from hypercast.host.eda.fit import check_fit
from hypercast.host.eda.target import target_of
from hypercast.rtl.config import Config, ConfigurationError

__all__ = ["check_board"]

#: Error of an estimate of area, as ``hypercast bench area`` demands it.
_ERROR = 0.15


def check_board(name: str, config: Config, note: Callable[[str], None]) -> None:
    """Refuse a configuration that does not fit a board.

    What the ports of the memory do not allow, what cannot fit by bounds (``check_fit``), and what
    does not by the estimates of area, even if they are too high by their error.

    Parameters
    ----------
    name : str
        Board.
    config : Config
        Configuration of the chip.
    note : callable
        Called with a line of text if it fits only if the estimate is too high.

    Raises
    ------
    ConfigurationError
        If it does not fit; says what there is too little of.
    """
    board = (HBM_BOARDS | SERIAL_BOARDS | ZYNQ_BOARDS)[name]
    if name in HBM_BOARDS:
        check_channels(HBM_BOARDS[name], config)
    elif name in ZYNQ_BOARDS:
        check_memory(ZYNQ_BOARDS[name], config)
    check_fit(board.title, board.fpga, FPGAS[board.fpga], config,
              folded=name in SERIAL_BOARDS, external=name not in SERIAL_BOARDS)
    try:
        target = target_of(name)
    except InputError:  # there are no estimates for this FPGA
        return
    shares = {kind: share for kind, share in target.shares(config).items() if share > 1}
    taken = ", ".join(f"{share:.0%} of {kind}" for kind, share in shares.items())
    if any(share > 1 + _ERROR for share in shares.values()):
        raise ConfigurationError(
            f"this configuration does not fit the {board.fpga} of the {board.title}: by an "
            f"estimate with an error of {_ERROR:.0%} it takes {taken}; take the preset that is the "
            f"board's own (leave out --preset), fewer lanes or smaller memories, or let hypercast "
            f"explore --board {name} choose")
    if shares:
        note(f"by an estimate with an error of {_ERROR:.0%} this configuration takes {taken} of "
             f"the {board.fpga}, so it may not fit")
