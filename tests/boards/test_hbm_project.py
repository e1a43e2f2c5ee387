"""Projects for boards with HBM: complete, consistent, the same each time, and well-formed."""

import re
import shutil

import pytest

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.boards.hbm_memory import HBM_MODULE
from hypercast.boards.hbm_project import TOP_MODULE, board_scripts
from hypercast.boards.hbm_top import HbmTop
from hypercast.boards.xdma_port import CROSSING_MODULE, XDMA_MODULE
from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.verilog import write_verilog
from tests.boards.vivado_stub import record

CONFIG = PRESETS["vcu128"].replace(channel_words=1 << 20)
NAMES = list(HBM_BOARDS)
#: Ports whose place follows from the transceivers.
LANES = {"pcie_rx_p", "pcie_rx_n", "pcie_tx_p", "pcie_tx_n"}


@pytest.fixture(scope="module")
def verilog():
    """The U280's top, without what is in the cores."""
    return write_verilog(to_rtlil(HbmTop(HBM_BOARDS["u280"], CONFIG, converted=True), TOP_MODULE))


@pytest.fixture(params=NAMES)
def board(request):
    return request.param


def instance(text, module):
    """Ports of the only instance of a module, and what is connected to each."""
    [body] = re.findall(rf"^  {module} \w+ \($(.*?)^  \);", text, re.MULTILINE | re.DOTALL)
    ports = re.findall(r"^    \.(\w+)\((.*)\),?$", body, re.MULTILINE)
    assert len({name for name, _ in ports}) == len(ports)
    return dict(ports)


def test_all_ports_of_the_top_have_a_pin(board):
    ports = HbmTop(HBM_BOARDS[board], CONFIG, converted=True).signature.members
    pins = board_scripts(HBM_BOARDS[board], CONFIG, "p")["pins.xdc"]
    placed = re.findall(r"PACKAGE_PIN \w+.*\[get_ports (\w+)\]", pins)
    assert sorted([*placed, *LANES]) == sorted(ports)


def test_the_top_has_no_other_ports(verilog):
    [declaration] = re.findall(rf"^module {TOP_MODULE}\((.*)\);", verilog, re.MULTILINE)
    assert set(declaration.replace(" ", "").split(",")) == set(
        HbmTop(HBM_BOARDS["u280"], CONFIG, converted=True).signature.members)


def test_every_channel_has_its_pseudo_channel(verilog):
    ports = instance(verilog, HBM_MODULE)
    for number in range(32):
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
               for number in range(32))
    # AXI3 of PG276, but for what carries no information here.
    assert signals == {
        "ACLK", "ARESET_N", "ARADDR", "ARBURST", "ARID", "ARLEN", "ARREADY", "ARSIZE", "ARVALID",
        "AWADDR", "AWBURST", "AWID", "AWLEN", "AWREADY", "AWSIZE", "AWVALID", "BREADY", "BRESP",
        "BVALID", "RDATA", "RLAST", "RREADY", "RRESP", "RVALID", "WDATA", "WDATA_PARITY", "WLAST",
        "WREADY", "WSTRB", "WVALID"}


def test_cores_and_channels_in_order(verilog):
    [chip] = re.findall(rf"^  \\{TOP_MODULE}\.chip  chip \((.*?)^  \);", verilog,
                        re.MULTILINE | re.DOTALL)
    [memory] = re.findall(rf"^  \\{TOP_MODULE}\.memory  memory \((.*?)^  \);", verilog,
                          re.MULTILINE | re.DOTALL)

    def connected(text, prefix):
        return dict(re.findall(rf"\.{prefix}__(\d+)__read__rready\((.*)\)", text))

    assert len(connected(chip, "memory")) == 32
    assert set(connected(memory, "channels").values()) == {
        f"channels__{number}__read__rready" for number in range(32)}
    assert connected(chip, "memory") == connected(memory, "channels")
    assert verilog.count(f"  {CORE_MODULE} ") == CONFIG.cores
    assert verilog.count(f"  {CONTROL_MODULE} ") == 1


def test_ip_is_created_as_it_is_instantiated(board, verilog):
    calls = record(board_scripts(HBM_BOARDS[board], CONFIG, "p")["ip.tcl"])
    created = {call[call.index("-module_name") + 1] for call in calls if call[0] == "create_ip"}
    assert created == {HBM_MODULE, XDMA_MODULE, CROSSING_MODULE}
    assert all(instance(verilog, module) for module in created)
    settings = {}
    for call in calls:
        if call[0] == "set_property":
            names, values = call[2].split()[::2], call[2].split()[1::2]
            settings |= dict(zip(names, values, strict=True))
    for number in range(32):
        assert settings[f"CONFIG.USER_SAXI_{number:02}"] == "true"
    assert settings["CONFIG.axilite_master_size"] == "4"
    stream = instance(verilog, XDMA_MODULE)["s_axis_c2h_tdata_0"]
    assert settings["CONFIG.axi_data_width"] == f"{stream.split(chr(39))[0]}_bit"
    assert settings["CONFIG.select_quad"] == HBM_BOARDS[board].pcie_quad


def test_floorplan_places_every_core_once(board, verilog):
    calls = record(board_scripts(HBM_BOARDS[board], CONFIG, "p")["floorplan.xdc"])
    cells = [cell for call in calls if call[0] == "get_cells" for cell in call[1].split()]
    parts = {f"chip/core_{core}" for core in range(CONFIG.cores)}
    assert sorted(cells) == sorted({*parts, "chip/control", "memory", "port"})
    for cell in cells:
        module, _, name = f"{TOP_MODULE}/{cell}".rpartition("/")
        assert f"  \\{module.replace('/', '.')}.{name}  {name} (" in verilog


def test_build_script_reads_what_is_written(board):
    scripts = board_scripts(HBM_BOARDS[board], CONFIG, "chosen")
    calls = record(scripts["build.tcl"])
    files = {word.rpartition("/")[2] for call in calls for word in " ".join(call).split()
             if call[0] in ("add_files", "source") and word.endswith((".tcl", ".v", ".xdc"))}
    assert files == {"chosen.v", *scripts} - {"build.tcl"}
    [project] = [call for call in calls if call[0] == "create_project"]
    assert project[project.index("-part") + 1] == HBM_BOARDS[board].part
    assert ["set_property", "top", TOP_MODULE, "current_fileset"] in calls
    assert [call[1] for call in calls if call[0] == "launch_runs"] == ["synth_1", "impl_1"]


@pytest.mark.parametrize("slack", ["-0.1", "0.1"])
def test_a_clock_that_is_not_met_is_an_error(slack):
    script = board_scripts(HBM_BOARDS["u50"], CONFIG, "p")["build.tcl"]
    if float(slack) < 0:
        with pytest.raises(AssertionError, match="the clock is not met"):
            record(script, slack)
    else:
        assert "file copy" in " ".join(" ".join(call[:2]) for call in record(script, slack))


def test_texts_are_complete_and_the_same(board):
    scripts = board_scripts(HBM_BOARDS[board], CONFIG, "p")
    assert board_scripts(HBM_BOARDS[board], CONFIG, "p") == scripts
    for name, text in scripts.items():
        assert not re.search(r"@\w+@|None|\{\}|TODO", text), name
        assert text.startswith("# Hypercast") and f"hash {CONFIG.hash:#010x}" in text
        record(text)


@pytest.mark.skipif(not shutil.which("tclsh"), reason="no tclsh")
@pytest.mark.parametrize("script", ["puts {", "puts [get_pblocks", "unknown_command 1"])
def test_the_stub_notices(script):
    with pytest.raises(AssertionError, match=r"missing close|invalid command name"):
        record(script)
