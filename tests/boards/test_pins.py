# SPDX-License-Identifier: BSD-2-Clause
"""Every pin that a project places, against a second source."""

import re

import pytest

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.boards.hbm_project import board_scripts
from hypercast.boards.serial_board import SERIAL_BOARDS
from hypercast.boards.serial_project import project
from hypercast.rtl.config import PRESETS

#: Where the second source of a board's pins is; the first is amaranth-boards, or what
#: ``hbm_board.py`` says.
SOURCES = {
    "arty-a7": "Digilent/digilent-xdc, Arty-A7-100-Master.xdc",
    "de10-nano": "litex-hub/litex-boards, litex_boards/platforms/de10nano.py",
    "ecp5-evn": "litex-hub/litex-boards, litex_boards/platforms/ecp5_evn.py",
    "tang-mega": "litex-hub/litex-boards, litex_boards/platforms/sipeed_tang_mega_138k_pro.py; "
                 "its UART also in llcc01/TangMega-138KPro-AE350-SoC, src/ae350_soc.cst",
    "u280": "alexforencich/verilog-ethernet, example/Alveo/fpga_25g/fpga_au280.xdc",
    "u50": "alexforencich/verilog-ethernet, example/Alveo/fpga_25g/fpga_au50.xdc",
    "ulx3s": "emard/ulx3s, doc/constraints/ulx3s_v20.lpf",
    "vcu128": "Xilinx/XilinxBoardStore, boards/Xilinx/vcu128/production/2.0/part0_pins.xml",
}
#: Port to pin and I/O standard, as the second source has them. A standard is None where it has
#: none: a transceiver's clock needs none.
PINS = {
    "arty-a7": {
        "clk100_0__io": ("E3", "LVCMOS33"), "rst_0__io": ("C2", "LVCMOS33"),
        "uart_0__rx__io": ("A9", "LVCMOS33"), "uart_0__tx__io": ("D10", "LVCMOS33"),
        "led_0__io": ("H5", "LVCMOS33"), "led_1__io": ("J5", "LVCMOS33"),
        "led_2__io": ("T9", "LVCMOS33")},
    "de10-nano": {
        "clk50_0__io": ("V11", "3.3-V LVTTL"), "button_0__io": ("AH17", "3.3-V LVTTL"),
        "uart_0__rx__io": ("AG13", "3.3-V LVTTL"), "uart_0__tx__io": ("AF13", "3.3-V LVTTL"),
        "led_0__io": ("W15", "3.3-V LVTTL"), "led_1__io": ("AA24", "3.3-V LVTTL"),
        "led_2__io": ("V16", "3.3-V LVTTL")},
    "ecp5-evn": {
        "clk12_0__io": ("A10", "LVCMOS33"), "rst_0__io": ("G2", "LVCMOS33"),
        "uart_0__rx__io": ("P2", "LVCMOS33"), "uart_0__tx__io": ("P3", "LVCMOS33"),
        "led_0__io": ("A13", "LVCMOS25"), "led_1__io": ("A12", "LVCMOS25"),
        "led_2__io": ("B19", "LVCMOS25")},
    # amaranth-boards has the UART's lines the other way round. Its LEDs 0 and 1 are LiteX's 1
    # and 0.
    "tang-mega": {
        "clk50_0__io": ("P16", "LVCMOS33"), "button_0__io": ("K16", "LVCMOS33"),
        "uart_0__rx__io": ("N16", "LVCMOS33"), "uart_0__tx__io": ("P15", "LVCMOS33"),
        "led_0__io": ("R26", "LVCMOS33"), "led_1__io": ("J14", "LVCMOS33"),
        "led_2__io": ("L20", "LVCMOS33")},
    "u280": {
        "clock_p": ("BJ43", "LVDS"), "clock_n": ("BJ44", "LVDS"),
        "pcie_clock_p": ("AR15", None), "pcie_clock_n": ("AR14", None),
        "pcie_reset_n": ("BH26", "LVCMOS18"), "overheated": ("D32", "LVCMOS18")},
    "u50": {
        "clock_p": ("BB18", "LVDS"), "clock_n": ("BC18", "LVDS"),
        "pcie_clock_p": ("AB9", None), "pcie_clock_n": ("AB8", None),
        "pcie_reset_n": ("AW27", "LVCMOS18"), "overheated": ("J18", "LVCMOS18")},
    "ulx3s": {
        "clk25_0__io": ("G2", "LVCMOS33"), "button_fire_0__io": ("R1", "LVCMOS33"),
        "uart_0__rx__io": ("M1", "LVCMOS33"), "uart_0__tx__io": ("L4", "LVCMOS33"),
        "led_0__io": ("B2", "LVCMOS33"), "led_1__io": ("C2", "LVCMOS33"),
        "led_2__io": ("C1", "LVCMOS33")},
    # The bank of the reset is at 1.2 V.
    "vcu128": {
        "clock_p": ("BH51", "DIFF_SSTL12"), "clock_n": ("BJ51", "DIFF_SSTL12"),
        "pcie_clock_p": ("AR15", None), "pcie_clock_n": ("AR14", None),
        "pcie_reset_n": ("BF41", "LVCMOS12")},
}
#: File, and how it says pin and standard of a port.
SYNTAX = {
    "cst": (r'IO_LOC "(\S+)" (\S+);', r'IO_PORT "(\S+)" .*?IO_TYPE=(\S+?)[ ;]'),
    "lpf": (r'LOCATE COMP "(\S+)" SITE "(\S+)"', r'IOBUF PORT "(\S+)" .*?IO_TYPE=(\S+?)[ ;]'),
    "qsf": (r'set_location_assignment -to "(\S+)" PIN_(\S+)',
            r'set_instance_assignment -to "(\S+)" -name io_standard "(.+)"'),
    "xdc": (r'set_property LOC (?P<value>\S+) \[get_ports "(?P<port>\S+)"\]',
            r'set_property IOSTANDARD "?(?P<value>[^"\s]+)"? \[get_ports "(?P<port>\S+)"\]'),
    "dict": (r"PACKAGE_PIN (?P<value>\S+?)[ }].*\[get_ports (?P<port>\S+)\]",
             r"IOSTANDARD (?P<value>\S+?)\}.*\[get_ports (?P<port>\S+)\]"),
}


def placed(text, pattern):
    """Values by port."""
    return {found.groupdict().get("port", found[1]): found.groupdict().get("value", found[2])
            for found in re.finditer(pattern, text)}


def constraints(name):
    """Constraints of a board's project, and their syntax."""
    if name in HBM_BOARDS:
        board = HBM_BOARDS[name]
        return board_scripts(board, PRESETS[board.preset], "p")["pins.xdc"], "dict"
    pytest.importorskip("amaranth_boards")
    files = project(SERIAL_BOARDS[name], PRESETS["tiny"], "module \\hypercast_core\n").files
    [file] = [file for file in files if file.endswith((".cst", ".lpf", ".qsf", ".xdc"))]
    return files[file], file.rpartition(".")[2]


@pytest.mark.parametrize("name", [*SERIAL_BOARDS, *HBM_BOARDS])
def test_pins_and_standards_are_those_of_the_second_source(name):
    text, syntax = constraints(name)
    pins, standards = (placed(text, pattern) for pattern in SYNTAX[syntax])
    assert {port: (pin, standards.get(port)) for port, pin in pins.items()} == PINS[name], (
        SOURCES[name])
    assert sorted(SOURCES) == sorted(PINS) == sorted(SERIAL_BOARDS | HBM_BOARDS)
