# SPDX-License-Identifier: BSD-2-Clause
"""What is refused cannot fit, what fits is not refused, and the message says what would help."""

from dataclasses import replace

import pytest

from hypercast.boards.fpga import FPGAS, Fpga, Ram
from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.boards.serial_board import SERIAL_BOARDS
from hypercast.boards.zynq_board import ZYNQ_BOARDS
from hypercast.host.eda.fit import check_fit, uses
from hypercast.rtl.config import PRESETS, ConfigurationError
from hypercast.rtl.export.manifest import memories

TEST = PRESETS["test"]
RAM = Ram(name="RAM", bits=36, shapes=((36, 1), (18, 2), (4, 9)))


def fpga(**changes):
    """An FPGA with plenty of everything."""
    return Fpga(**{"family": "ECP5", "luts": 1 << 20, "flip_flops": 1 << 20,
                   "multipliers": 1 << 20, "rams": ((RAM, 1 << 20),), "distributed_bits": 0,
                   "source": "none", **changes})


@pytest.mark.parametrize(("words", "width", "blocks"), [
    (36, 1, 1), (37, 1, 2), (18, 2, 1), (18, 3, 2), (4, 9, 1), (5, 9, 2), (4, 10, 2), (36, 9, 9)])
def test_blocks_of_a_memory(words, width, blocks):
    assert RAM.blocks(words, width) == blocks


@pytest.mark.parametrize("name", FPGAS)
def test_shapes_fill_a_block_but_for_parity(name):
    for ram, _ in FPGAS[name].rams:
        assert all(8 * ram.bits // 10 <= words * width <= ram.bits for words, width in ram.shapes)


def test_one_kind_of_ram_holds_every_memory():
    use, _ = uses(fpga(), TEST)
    assert use.needed == sum(
        item["instances"] * RAM.blocks(item["words"], item["width"]) for item in memories(TEST))


def test_small_memories_may_be_in_luts():
    small = TEST.replace(lanes=2, accumulator_rows=16, weight_rows=16, bypass_rows=16,
                         operand_words=16, channel_words=64, program_rows=16)
    large = {item["name"] for item in memories(small) if item["words"] * item["width"] > 1024}
    assert "right operands" not in large and "logits" in large
    assert uses(fpga(), small)[0].needed == sum(
        item["instances"] * RAM.blocks(item["words"], item["width"]) for item in memories(small)
        if item["name"] in large)


def test_other_kinds_take_what_they_can():
    """Memory in LUTs and in larger blocks is not needed in others; if all of it, nothing is."""
    everything = sum(item["instances"] * item["words"] * item["width"] for item in memories(TEST))
    large = Ram(name="large", bits=1 << 16, shapes=((4096, 72),))
    needed = [uses(fpga(**changes), TEST)[0].needed for changes in (
        {}, {"distributed_bits": everything // 2}, {"rams": ((RAM, 1), (large, 4))},
        {"distributed_bits": 2 * everything}, {"rams": ((RAM, 1), (large, 1000))})]
    assert needed[0] > needed[1] > needed[3] == needed[4] == 0 and needed[0] > needed[2] > 0
    assert "all 4 large in use" in uses(fpga(rams=((RAM, 1), (large, 4))), TEST)[0].resource


def test_channels_outside_of_the_chip_are_not_counted():
    inside, outside = (uses(fpga(), TEST, external=external)[0].needed
                       for external in (False, True))
    assert inside - outside == 2 * TEST.cores * RAM.blocks(TEST.channel_words, TEST.word_width + 1)


def test_a_folded_chip_has_the_logic_of_one_core_and_all_its_memory():
    demo = PRESETS["demo"]
    (_, one), (_, all_of_them) = (uses(fpga(), demo, folded=folded) for folded in (True, False))
    assert all_of_them.needed == 16 * one.needed
    assert uses(fpga(), TEST, folded=True) == uses(fpga(), TEST), "four cores are not folded"
    deep, = (item for item in memories(demo) if item["name"] == "program")
    assert uses(fpga(), demo, folded=True)[0].needed >= RAM.blocks(deep["words"], deep["width"])


def test_multipliers_without_a_block_are_luts():
    with_blocks, without = (uses(fpga(multipliers=count), TEST)[1].needed
                            for count in (1 << 20, 60))
    assert without - with_blocks == (4 * 16 - 60) * 16 * 16


@pytest.mark.parametrize("name", [*SERIAL_BOARDS, *HBM_BOARDS, *ZYNQ_BOARDS])
def test_a_boards_own_preset_fits(name):
    board = (SERIAL_BOARDS | HBM_BOARDS | ZYNQ_BOARDS)[name]
    check_fit(board.title, board.fpga, FPGAS[board.fpga], PRESETS[board.preset],
              folded=name in SERIAL_BOARDS, external=name not in SERIAL_BOARDS)


def test_what_helps():
    """Each of the changes that are named is enough."""
    config = PRESETS["ulx3s"].replace(channel_words=8192)
    with pytest.raises(ConfigurationError, match=r"at least \d+ needed, 208 there; -P channel_"
                                                 r"words=\d+ or -P dimensions=\d would") as caught:
        check_fit("board", "LFE5U-85F", FPGAS["LFE5U-85F"], config, folded=True)
    changes = [word.split("=") for word in str(caught.value).split() if "=" in word]
    for field, value in changes:
        check_fit("board", "LFE5U-85F", FPGAS["LFE5U-85F"], config.replace(**{field: int(value)}),
                  folded=True)


def test_fewer_rows_that_are_aggregated_at_once_may_help():
    config = PRESETS["ulx3s"].replace(aggregation_rows=8192)
    with pytest.raises(ConfigurationError, match=r": -P aggregation_rows=\d+ would|; -P aggrega"):
        check_fit("board", "LFE5U-85F", FPGAS["LFE5U-85F"], config, folded=True)


def test_nothing_helps():
    small = fpga(rams=((RAM, 10),), luts=100)
    with pytest.raises(ConfigurationError, match=r"the none of the one: RAM: .* needed, 10 there; "
                                                 r"LUT .* 100 there; more than one thing is too "
                                                 r"large; take the preset"):
        check_fit("one", "none", small, TEST)


def test_fpgas_of_the_same_regions_have_as_much_of_each():
    """VU37P and VU35P have three and two of the same super logic region (AMD XMP103).

    The maker rounds bits in LUTs to 100 Kibit. One region lacks some LUTs and DSP blocks.
    """
    three, two = FPGAS["XCVU37P"], FPGAS["XCU50"]
    assert replace(FPGAS["XCU280"], source=three.source) == three
    assert [(ram, 2 * count) for ram, count in three.rams] == [
        (ram, 3 * count) for ram, count in two.rams]
    assert two.distributed_bits % 102_400 == three.distributed_bits % 102_400 == 0
    assert abs(two.distributed_bits - three.distributed_bits * 2 / 3) < 102_400 / 2
    for one in FPGAS.values():
        if one.family == "UltraScale+":
            assert one.flip_flops == 2 * one.luts
            assert one.distributed_bits < 64 * one.luts
