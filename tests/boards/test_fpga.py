# SPDX-License-Identifier: BSD-2-Clause
"""The FPGAs' figures agree with others that their makers print."""

import pytest

from hypercast.boards.fpga import FPGAS

#: Memory of all blocks of each kind: Kibit, and Mibit with one decimal of UltraScale+.
MEMORY = {
    "5CSEBA6": [5_530],  # Quartus' reports: 5,662,720 bits
    "GW5AST-138": [6_120], "LFE5U-85F": [3_744], "XC7A100T": [4_860],
    "XCK26": [5.1, 18.0], "XCU280": [70.9, 270.0], "XCU50": [47.3, 180.0], "XCVU37P": [70.9, 270.0],
}
#: Logic cells, which are marketed instead of LUTs, for each of these.
CELLS = {"7 series": 1.6, "UltraScale+": 2.1875}
LOGIC = {"XC7A100T": 101_440, "XCK26": 256_200, "XCU280": 2_851_800, "XCU50": 1_906_800,
         "XCVU37P": 2_851_800}


@pytest.mark.parametrize("name", FPGAS)
def test_memory_of_all_blocks(name):
    fpga = FPGAS[name]
    kibit = [count * ram.bits / 1024 for ram, count in fpga.rams]
    if fpga.family == "UltraScale+":
        assert [one / 1024 for one in kibit] == pytest.approx(MEMORY[name], abs=0.051)
    else:
        assert kibit == MEMORY[name]


@pytest.mark.parametrize("name", LOGIC)
def test_logic(name):
    """AMD's have two flip-flops for each LUT. At most half of the LUTs are RAM, of 64 bits each."""
    fpga = FPGAS[name]
    assert fpga.flip_flops == 2 * fpga.luts
    assert fpga.luts == round(LOGIC[name] / CELLS[fpga.family])
    assert 0.2 < fpga.distributed_bits / 64 / fpga.luts <= 0.5


def test_the_same_silicon_has_the_same_of_all():
    one, other = (FPGAS[name] for name in ("XCU280", "XCVU37P"))
    for name in ("family", "luts", "flip_flops", "multipliers", "rams", "distributed_bits"):
        assert getattr(one, name) == getattr(other, name)
