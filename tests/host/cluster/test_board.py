# SPDX-License-Identifier: BSD-2-Clause
"""Boards of a cluster: what a section of its file makes of them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.boards.serial_board import SERIAL_BOARDS
from hypercast.boards.zynq_board import ZYNQ_BOARDS
from hypercast.host.cluster.board import NO_OVERLAP, RESULTS, ROWS, board_of
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import ADDRESS_WIDTH

KINDS = [*HBM_BOARDS, *SERIAL_BOARDS, *ZYNQ_BOARDS]


@pytest.mark.parametrize("kind", KINDS)
def test_boards_of_a_group_differ_by_name_alone(kind):
    boards = board_of("a", {"board": kind, "count": 3})
    assert [board.name for board in boards] == ["a-0", "a-1", "a-2"]
    assert len({(board.kind, board.speed, board.memory, board.host, board.transfers)
                for board in boards}) == 1
    assert boards[0].kind == kind and boards[0].device is None
    assert boards[0].memory == 2 * boards[0].config.cores * boards[0].config.channel_words * (
        boards[0].config.word_width // 8)


def test_boards_have_the_memory_clock_and_host_of_their_kind():
    fast, slow = (load_cluster(name).boards[0] for name in ("vcu128-2", "ulx3s-2"))
    assert (fast.memory, fast.clock, fast.transfers) == (8 << 30, 250e6, RESULTS)
    assert (slow.clock, slow.transfers) == (50e6 / 16, NO_OVERLAP)  # folded
    assert slow.memory == 2 * 16 * slow.config.channel_words * slow.config.word_width // 8


@pytest.mark.parametrize("kind", HBM_BOARDS)
def test_hbm_boards_have_a_quarter_of_a_gibibyte_for_each_channel(kind):
    """Two channels a core, as far as addresses reach."""
    [board] = board_of("a", {"board": kind})
    cores, word = board.config.cores, board.config.word_width // 8
    assert board.memory == 2 * cores * min(1 << 28, word << ADDRESS_WIDTH)


def test_a_chip_that_cannot_be_is_blamed_on_its_key():
    with pytest.raises(DescriptionError, match=r"\[boards\.a\] lanes must be") as error:
        board_of("a", {"board": "vcu128", "lanes": 5})
    assert (error.value.section, error.value.key) == ("boards.a", "lanes")


@given(st.sampled_from(KINDS), st.floats(1e-6, 1e6))
def test_channels_are_as_large_as_fits(kind, gigabytes):
    """A power of two of words, with which the chip's channels fill more than half of the memory."""
    try:
        [board] = board_of("a", {"board": kind, "gigabytes": gigabytes})
    except DescriptionError as error:
        assert (error.section, error.key) == ("boards.a", "gigabytes")
        assert f"gigabytes is {gigabytes}" in str(error)
        return
    words = board.config.channel_words
    assert words.bit_count() == 1 and words <= 1 << ADDRESS_WIDTH
    assert board.memory <= gigabytes * 1e9 < 2 * board.memory or words == 1 << ADDRESS_WIDTH


@given(st.sampled_from(KINDS), st.floats(1e-3, 1e5), st.floats(1e-3, 1e4), st.floats(0, 1e4),
       st.sampled_from([ROWS, RESULTS, NO_OVERLAP]))
def test_what_is_given_is_taken(kind, megahertz, gigabits, microseconds, transfers):
    [board] = board_of("a", {
        "board": kind, "megahertz": megahertz, "host_gigabits": gigabits,
        "host_microseconds": microseconds, "transfers": transfers, "device": "rtl"})
    assert board.clock == pytest.approx(megahertz * 1e6)
    assert board.host.bandwidth == pytest.approx(gigabits * 1e9 / 8)
    assert board.host.latency == pytest.approx(microseconds * 1e-6)
    assert (board.transfers, board.device) == (transfers, "rtl")


def test_presets_and_fields_are_of_the_chip():
    [board] = board_of("a", {"board": "u50", "preset": "demo", "channel_words": 4096})
    assert board.config == PRESETS["demo"].replace(channel_words=4096)
    speeds = [board_of("a", {"board": "u50", "megahertz": clock, "lanes": lanes})[0].speed
              for clock, lanes in itertools.product((1, 2), (4, 8))]
    assert len({*speeds}) == 4


@pytest.mark.parametrize(("values", "key", "text"), [
    ({}, "board", r"board must be one of .*, not None$"),
    ({"board": "u51"}, "board", r"board must be one of .*u50, .*, not 'u51'$"),
    ({"board": "u50", "preset": "huge"}, "preset", "preset must be one of tiny, .*, not 'huge'$"),
    ({"board": "u50", "device": "rtl,rtl"}, "device", "device must be one .*, not 'rtl,rtl'$"),
    ({"board": "u50", "device": "fpga"}, "device", "device must be one .*, not 'fpga'$"),
    ({"board": "u50", "transfers": "some"}, "transfers",
     "transfers must be rows, results or waiting, not 'some'$"),
    ({"board": "u50", "gigabytes": 1.0, "channel_words": 64}, "gigabytes",
     "has gigabytes and channel_words, which are the same memory; leave one out$"),
    ({"board": "u50", "count": 1025}, "count", "count must be"),
])
def test_what_is_no_board(values, key, text):
    with pytest.raises(DescriptionError, match=r"^\[boards\.a\] " + text) as error:
        board_of("a", values)
    assert (error.value.section, error.value.key) == ("boards.a", key)
