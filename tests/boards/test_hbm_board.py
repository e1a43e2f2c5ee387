# SPDX-License-Identifier: BSD-2-Clause
"""The boards' descriptions, and what does not fit them."""

import pytest

from hypercast.boards.fpga import FPGAS
from hypercast.boards.hbm_board import HBM_BOARDS, check
from hypercast.host.eda.fit import check_fit
from hypercast.rtl.config import PRESETS, ConfigurationError
from hypercast.rtl.network.topology import links, neighbour

BOARD, VCU128 = HBM_BOARDS["vcu128"], PRESETS["vcu128"]


@pytest.mark.parametrize("board", HBM_BOARDS.values(), ids=list(HBM_BOARDS))
def test_few_dimensions_cross_dies(board):
    config = PRESETS[board.preset]
    dies = [board.die(core) for core in range(config.cores)]
    assert sorted(dies) == dies and set(dies) == set(range(len(board.dies)))
    crossing = {dimension for core, dimension in links(config.dimensions)
                if dies[core] != dies[neighbour(core, dimension)]}
    assert len(crossing) == len(board.dies) - 1
    with pytest.raises(ValueError, match=f"core must be 0 to {config.cores - 1}"):
        board.die(config.cores)


@pytest.mark.parametrize("board", HBM_BOARDS.values(), ids=list(HBM_BOARDS))
def test_its_preset_fits(board):
    config = PRESETS[board.preset]
    check(board, config)
    check_fit(board.title, board.fpga, FPGAS[board.fpga], config, external=True)
    assert 16 * board.stacks == 2 * config.cores, "pseudo-channels of the stacks in use"


@pytest.mark.parametrize("board", HBM_BOARDS.values(), ids=list(HBM_BOARDS))
def test_no_pin_has_two_uses(board):
    pins = [*board.clock, *board.pcie_clock, board.pcie_reset, board.overheated]
    assert len(set(pins)) == len(pins)


@pytest.mark.parametrize(("changes", "message"), [
    ({"dimensions": 3}, "the AMD VCU128 needs cores 16, not 8; choose dimensions 4"),
    ({"lanes": 8}, "needs word_width 256, not 128"),
    ({"element_width": 8}, "needs word_width 256, not 128"),
    ({"channel_words": 1 << 24}, "channel_words must be at most 8388608"),
])
def test_what_does_not_fit(changes, message):
    with pytest.raises(ConfigurationError, match=message):
        check(BOARD, VCU128.replace(**changes))


def test_what_fits():
    check(BOARD, VCU128.replace(channel_words=1 << 23))
