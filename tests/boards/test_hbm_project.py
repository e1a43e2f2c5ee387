# SPDX-License-Identifier: BSD-2-Clause
"""Projects for boards with HBM: complete, consistent, the same each time, and well-formed."""

import re
import shutil
from itertools import pairwise, product

import pytest

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.boards.hbm_memory import HBM_MODULE
from hypercast.boards.hbm_project import TOP_MODULE, board_scripts
from hypercast.boards.hbm_top import HbmTop
from hypercast.boards.xdma_port import BULK_CROSSING_MODULE, CROSSING_MODULE, XDMA_MODULE
from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.verilog import write_verilog
from tests.boards.vivado_stub import record

CONFIGS = {name: PRESETS[board.preset].replace(channel_words=1 << 20)
           for name, board in HBM_BOARDS.items()}
NAMES = list(HBM_BOARDS)
#: Ports whose place follows from the transceivers.
LANES = {"pcie_rx_p", "pcie_rx_n", "pcie_tx_p", "pcie_tx_n"}


def top(name):
    """The top of a board."""
    return HbmTop(HBM_BOARDS[name], CONFIGS[name], converted=True)


def scripts(name, project="p"):
    """The scripts of a board's project."""
    return board_scripts(HBM_BOARDS[name], CONFIGS[name], project)


@pytest.fixture(scope="module")
def tops():
    """Tops that have been converted, without what is in the cores."""
    return {}


@pytest.fixture(params=NAMES)
def board(request):
    return request.param


@pytest.fixture
def verilog(board, tops):
    """The board's top; that of the VCU128 is one pin smaller than that of the U280."""
    name = "u280" if board == "vcu128" else board
    if name not in tops:
        tops[name] = write_verilog(to_rtlil(top(name), TOP_MODULE))
    return tops[name]


def instance(text, module):
    """Ports of the only instance of a module, and what is connected to each."""
    [body] = re.findall(rf"^  {module} \w+ \($(.*?)^  \);", text, re.MULTILINE | re.DOTALL)
    ports = re.findall(r"^    \.(\w+)\((.*)\),?$", body, re.MULTILINE)
    assert len({name for name, _ in ports}) == len(ports)
    return dict(ports)


def test_all_ports_of_the_top_have_a_pin(board):
    ports = top(board).signature.members
    pins = scripts(board)["pins.xdc"]
    placed = re.findall(r"PACKAGE_PIN \w+.*\[get_ports (\w+)\]", pins)
    assert sorted([*placed, *LANES]) == sorted(ports)


@pytest.mark.parametrize("board", ["u50"])
def test_the_top_has_no_other_ports(board, verilog):
    [declaration] = re.findall(rf"^module {TOP_MODULE}\((.*)\);", verilog, re.MULTILINE)
    assert set(declaration.replace(" ", "").split(",")) == set(
        top(board).signature.members)


@pytest.mark.parametrize("board", ["u280", "u50"])
def test_every_channel_has_its_pseudo_channel(board, verilog):
    ports = instance(verilog, HBM_MODULE)
    channels = 2 * CONFIGS[board].cores
    for number in range(channels):
        for channel, half in (("AR", "read"), ("AW", "write")):
            # 2**20 words of 32 bytes: 25 bits; the number is above bit 28
            address = f"channels__{number}__{half}__{channel.lower()}addr"
            assert ports[f"AXI_{number:02}_{channel}ADDR"] == (
                f"{{ 8'h{number << 3:02x}, {address} }}")
        assert ports[f"AXI_{number:02}_RDATA"] == f"channels__{number}__read__rdata"
        assert ports[f"AXI_{number:02}_WDATA"] == f"channels__{number}__write__wdata"
        assert ports[f"AXI_{number:02}_ACLK"] == "clk"
    signals = {name[7:] for name in ports if name.startswith("AXI_00_")}
    assert all({name[7:] for name in ports if name.startswith(f"AXI_{number:02}_")} == signals
               for number in range(channels))
    assert f"AXI_{channels:02}_ACLK" not in ports
    # AXI3 of PG276, but for what carries no information here.
    assert signals == {
        "ACLK", "ARESET_N", "ARADDR", "ARBURST", "ARID", "ARLEN", "ARREADY", "ARSIZE", "ARVALID",
        "AWADDR", "AWBURST", "AWID", "AWLEN", "AWREADY", "AWSIZE", "AWVALID", "BREADY", "BRESP",
        "BVALID", "RDATA", "RLAST", "RREADY", "RRESP", "RVALID", "WDATA", "WDATA_PARITY", "WLAST",
        "WREADY", "WSTRB", "WVALID"}


@pytest.mark.parametrize("board", ["u50"])
def test_resets_end_when_what_they_wait_for_is_there(board, verilog):
    """The memory's when the clock runs; the chip's when, besides, the memory can be accessed."""
    text = verilog.partition("\nendmodule")[0]
    assigned = dict(re.findall(r"^  assign (\w+) = (.*);$", text, re.MULTILINE))
    sources = dict(re.findall(
        r"^  \) (\w+)_reset \(\n(?:    \..*\n)*?    \.src_arst\((\w+)\)", text, re.MULTILINE))
    assert sources.keys() == {"chip", "memory"}

    def value(name, known):
        if name in known:
            return known[name]
        match assigned[name].split():
            case ["~", one]:
                return not value(one, known)
            case [one, "&", other]:
                return value(one, known) and value(other, known)
            case [one, "|", other]:
                return value(one, known) or value(other, known)

    for locked, initialised in product((False, True), repeat=2):
        known = {"locked": locked, "initialised": initialised}
        assert value(sources["memory"], known) == (not locked)
        assert value(sources["chip"], known) == (not (locked and initialised))


@pytest.mark.parametrize("board", ["u280", "u50"])
def test_cores_and_channels_in_order(board, verilog):
    config = CONFIGS[board]
    [chip] = re.findall(rf"^  \\{TOP_MODULE}\.chip  chip \((.*?)^  \);", verilog,
                        re.MULTILINE | re.DOTALL)
    [memory] = re.findall(rf"^  \\{TOP_MODULE}\.memory  memory \((.*?)^  \);", verilog,
                          re.MULTILINE | re.DOTALL)

    def connected(text, prefix):
        return dict(re.findall(rf"\.{prefix}__(\d+)__read__rready\((.*)\)", text))

    assert len(connected(chip, "memory")) == 2 * config.cores
    assert set(connected(memory, "channels").values()) == {
        f"channels__{number}__read__rready" for number in range(2 * config.cores)}
    assert connected(chip, "memory") == connected(memory, "channels")
    assert verilog.count(f"  {CORE_MODULE} ") == config.cores
    assert verilog.count(f"  {CONTROL_MODULE} ") == 1


def test_ip_is_created_as_it_is_instantiated(board, verilog):
    calls = record(scripts(board)["ip.tcl"])
    created = {call[call.index("-module_name") + 1] for call in calls if call[0] == "create_ip"}
    assert created == {HBM_MODULE, XDMA_MODULE, CROSSING_MODULE}
    assert all(instance(verilog, module) for module in created)
    settings = {}
    for call in calls:
        if call[0] == "set_property":
            names, values = call[2].split()[::2], call[2].split()[1::2]
            settings |= dict(zip(names, values, strict=True))
    assert [f"CONFIG.USER_SAXI_{number:02}" in settings for number in range(32)] == [
        number < 2 * CONFIGS[board].cores for number in range(32)]
    assert settings["CONFIG.USER_HBM_STACK"] == str(HBM_BOARDS[board].stacks)
    assert settings["CONFIG.axilite_master_size"] == "4"
    stream = instance(verilog, XDMA_MODULE)["s_axis_c2h_tdata_0"]
    assert settings["CONFIG.axi_data_width"] == f"{stream.split(chr(39))[0]}_bit"
    assert settings["CONFIG.select_quad"] == HBM_BOARDS[board].pcie_quad


@pytest.fixture(scope="module")
def with_bulk():
    """The top of the U50 with a bulk port, and its scripts."""
    board, config = HBM_BOARDS["u50"], CONFIGS["u50"]
    design = to_rtlil(HbmTop(board, config, converted=True, bulk=True), TOP_MODULE)
    return write_verilog(design), board_scripts(board, config, "p", bulk=True)


def test_the_dma_goes_to_the_bulk_port(with_bulk):
    """XDMA's manager, a clock converter, the chip: every signal of AXI4 of the port, each way."""
    verilog, files = with_bulk
    bridge, crossing = (instance(verilog, name) for name in (XDMA_MODULE, BULK_CROSSING_MODULE))
    manager = {name[6:] for name in bridge if name.startswith("m_axi_")}
    assert manager == {
        "araddr", "arburst", "arid", "arlen", "arready", "arsize", "arvalid", "awaddr", "awburst",
        "awid", "awlen", "awready", "awsize", "awvalid", "bid", "bready", "bresp", "bvalid",
        "rdata", "rid", "rlast", "rready", "rresp", "rvalid", "wdata", "wlast", "wready", "wstrb",
        "wvalid"}
    for name in manager:
        assert bridge[f"m_axi_{name}"] == crossing[f"s_axi_{name}"]
        half = "read" if name.startswith(("ar", "r")) else "write"
        [chip] = re.findall(rf"^    \.bulk__{half}__{name}\((.*)\),?$",
                            verilog.partition(f"\\{TOP_MODULE}.chip  chip (")[2], re.MULTILINE)[:1]
        assert chip
    assert not [name for name in bridge if "axis" in name]
    assert crossing["s_axi_aclk"] == bridge["axi_aclk"] and crossing["m_axi_aclk"] == "clk"
    calls = record(files["ip.tcl"])
    assert BULK_CROSSING_MODULE in {
        call[call.index("-module_name") + 1] for call in calls if call[0] == "create_ip"}
    settings = [dict(zip(*[iter(call[2].split())] * 2, strict=True))
                for call in calls if call[0] == "set_property"]
    assert settings[1]["CONFIG.xdma_axi_intf_mm"] == "AXI_Memory_Mapped"
    assert settings[1]["CONFIG.axi_data_width"] == "128_bit"
    assert settings[3] == {
        "CONFIG.PROTOCOL": "AXI4", "CONFIG.ADDR_WIDTH": "64", "CONFIG.DATA_WIDTH": "128",
        "CONFIG.ID_WIDTH": "4", "CONFIG.ACLK_ASYNC": "1", "CONFIG.SYNCHRONIZATION_STAGES": "3"}


def test_floorplan_places_every_core_once(board, verilog):
    calls = record(scripts(board)["floorplan.xdc"])
    cells = [cell for call in calls if call[0] == "get_cells" for cell in call[1].split()]
    parts = {f"chip/core_{core}" for core in range(CONFIGS[board].cores)}
    assert sorted(cells) == sorted({*parts, "chip/control", "memory", "port"})
    for cell in cells:
        module, _, name = f"{TOP_MODULE}/{cell}".rpartition("/")
        assert f"  \\{module.replace('/', '.')}.{name}  {name} (" in verilog


def test_build_script_reads_what_is_written(board):
    files = scripts(board, "chosen")
    calls = record(files["build.tcl"])
    read = {word.rpartition("/")[2] for call in calls for word in " ".join(call).split()
            if call[0] in ("add_files", "source") and word.endswith((".tcl", ".v", ".xdc"))}
    assert read == {"chosen.v", *files} - {"build.tcl", "flash.tcl"}
    [project] = [call for call in calls if call[0] == "create_project"]
    assert project[project.index("-part") + 1] == HBM_BOARDS[board].part
    assert ["set_property", "top", TOP_MODULE, "current_fileset"] in calls
    assert [call[1:2] + call[4:] for call in calls if call[0] == "launch_runs"] == [
        ["synth_1"], ["impl_1"], ["impl_1", "-to_step", "write_bitstream"]]


@pytest.mark.parametrize("slack", ["-0.1", "{}", "0.1"])
def test_a_clock_that_is_not_met_is_an_error(slack):
    """And there is no bitstream then."""
    script = scripts("u50")["build.tcl"]
    if slack != "0.1":
        with pytest.raises(AssertionError, match="the clock is not met") as caught:
            record(script, slack)
        assert "write_bitstream" not in str(caught.value)
    else:
        assert "file copy" in " ".join(" ".join(call[:2]) for call in record(script, slack))


#: What Vivado calls the flash memories, their MiB, and where the bitstream is: as in Makefiles and
#: scripts for these cards. VCU128: ``flash_spi.tcl`` of Cheshire and Carfield (PULP platform).
#: Alveo: the Makefiles of Corundum's ``fpga/mqnic/AU50`` and ``AU280``, and "warpshell" for others.
FLASH = {"u280": ("mt25qu01g-spi-x1_x2_x4", "128", "0x01002000"),
         "u50": ("mt25qu01g-spi-x1_x2_x4", "128", "0x01002000"),
         "vcu128": ("mt25qu02g-spi-x1_x2_x4", "256", "0x00000000")}


def test_a_flash_image_as_of_the_boards_flash(board):
    files = scripts(board)
    part, size, offset = FLASH[board]
    calls = record(files["build.tcl"])
    [image] = [call for call in calls if call[0] == "write_cfgmem"]
    options = dict(pairwise(image))
    assert (options["-interface"], options["-size"]) == ("SPIx4", size)
    direction, address, bitstream = options["-loadbit"].split()
    assert (direction, address) == ("up", offset) and bitstream.endswith("/p.bit")
    copied, = [number for number, call in enumerate(calls) if call[:2] == ["file", "copy"]]
    assert calls.index(image) > copied
    programmed = record(files["flash.tcl"])
    assert ["get_cfgmem_parts", part] in programmed
    assert programmed[-1][0] == "program_hw_cfgmem"
    for setting in ("CONFIG_MODE SPIx4", "BITSTREAM.CONFIG.SPI_BUSWIDTH 4",
                    "BITSTREAM.CONFIG.SPI_32BIT_ADDR YES"):
        assert f"set_property {setting} [current_design]" in files["pins.xdc"]


def test_texts_are_complete_and_the_same(board):
    files = scripts(board)
    assert scripts(board) == files
    for name, text in files.items():
        assert not re.search(r"@\w+@|None|\{\}|TODO", text), name
        assert text.startswith("# Hypercast") and f"hash {CONFIGS[board].hash:#010x}" in text
        record(text)


@pytest.mark.skipif(not shutil.which("tclsh"), reason="no tclsh")
@pytest.mark.parametrize("script", ["puts {", "puts [get_pblocks", "unknown_command 1"])
def test_the_stub_notices(script):
    with pytest.raises(AssertionError, match=r"missing close|invalid command name"):
        record(script)
