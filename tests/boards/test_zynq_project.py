# SPDX-License-Identifier: BSD-2-Clause
"""Projects for boards with a processor: the block design connects everything, once."""

import re
from collections import Counter
from itertools import pairwise

import pytest

from hypercast.boards.zynq_board import ZYNQ_BOARDS, check_memory
from hypercast.boards.zynq_project import board_files
from hypercast.rtl.config import PRESETS, ConfigurationError
from hypercast.rtl.export.interfaces import interfaces
from tests.boards.vivado_stub import record


@pytest.fixture(params=[None, 0, 1, 3])
def design(request):
    """A board, a configuration with other dimensions than the preset's, and its block design."""
    [board] = ZYNQ_BOARDS.values()
    config = PRESETS[board.preset]
    if request.param is not None:
        config = config.replace(dimensions=request.param)
    return board, config, record(board_files(board, config, "p")["system.tcl"])


def connections(calls, command):
    """What is connected by each call of a command."""
    return [[word for word in call[1:] if word] for call in calls if call[0] == command]


def test_every_interface_of_the_chip_is_connected_once(design):
    _, config, calls = design
    busses = connections(calls, "connect_bd_intf_net")
    ends = [end for bus in busses for end in bus]
    assert len(ends) == len(set(ends)) and all(len(bus) == 2 for bus in busses)
    chip = {f"chip/{one.name}" for one in interfaces(config, external=True)
            if one.kind.startswith("axi4")}
    assert {end for end in ends if end.startswith("chip/")} == chip
    sources = {target.partition("/")[0]: source for source, target in busses}
    used = []
    for number in range(2 * config.cores):
        [joint] = [target for source, target in busses if source == f"chip/m_axi_{number:02}"]
        [port] = [target for source, target in busses
                  if source == f"{joint.partition('/')[0]}/M00_AXI"]
        assert re.fullmatch(r"ps/S_AXI_HP[0-3]_FPD", port)
        used.append(port)
    # The channels of a core share a port, and ports have as many cores as others, or one more.
    assert used[::2] == used[1::2]
    cores = Counter(used[::2]).values()
    assert len(cores) == min(4, config.cores) and max(cores) - min(cores) <= 1
    assert sources["chip"] == "registers/M00_AXI"


def test_a_joint_has_as_many_ports_as_are_connected(design):
    _, _, calls = design
    ends = [end for bus in connections(calls, "connect_bd_intf_net") for end in bus]
    for call in calls:
        if call[0] == "set_property" and "CONFIG.NUM_SI" in call[2]:
            settings = dict(pairwise(call[2].split()))
            joint = call[3]
            used = [end for end in ends if end.startswith(f"{joint}/S")]
            assert used == [f"{joint}/S{place:02}_AXI" for place in range(len(used))]
            assert settings["CONFIG.NUM_SI"] == str(len(used))


def test_every_cell_has_clock_and_reset(design):
    board, _, calls = design
    nets = connections(calls, "connect_bd_net")
    pins = [pin for net in nets for pin in net]
    assert len(pins) == len(set(pins))
    cells = {call[-1] for call in calls if call[0] == "create_bd_cell"}
    [clock] = [net for net in nets if net[0] == f"ps/{board.system.clock}"]
    [reset] = [net for net in nets if net[0] == "reset/peripheral_aresetn"]
    assert {pin.partition("/")[0] for pin in clock} == cells - {"base"}
    assert {pin.partition("/")[0] for pin in reset} == cells - {"base", "ps"}
    assert ["base/dout", "chip/memory_base"] in nets


#: What Zynq UltraScale+ calls the ports that a setting switches on (AMD PG201).
PORTS = {"M_AXI_GP0": "M_AXI_HPM0_FPD", "M_AXI_GP1": "M_AXI_HPM1_FPD",
         "M_AXI_GP2": "M_AXI_HPM0_LPD", "S_AXI_GP0": "S_AXI_HPC0_FPD",
         "S_AXI_GP1": "S_AXI_HPC1_FPD", "S_AXI_GP2": "S_AXI_HP0_FPD",
         "S_AXI_GP3": "S_AXI_HP1_FPD", "S_AXI_GP4": "S_AXI_HP2_FPD", "S_AXI_GP5": "S_AXI_HP3_FPD",
         "S_AXI_GP6": "S_AXI_LPD", "S_AXI_ACP": "S_AXI_ACP_FPD", "S_AXI_ACE": "S_AXI_ACE_FPD"}
#: Other outputs and inputs between processor and FPGA, and pins that they are at.
PINS = {"USE__IRQ0": "pl_ps_irq0", "USE__IRQ1": "pl_ps_irq1", "USE__VIDEO": "dp_video_ref_clk",
        "USE__AUDIO": "dp_s_axis_audio_clk", "USE__FABRIC__RST": "pl_resetn0",
        **{f"FPGA_PL{number}_ENABLE": f"pl_clk{number}" for number in range(4)}}


def test_every_port_of_the_processor_is_used_or_switched_off(design):
    """Whatever a board's preset has switched on."""
    _, _, calls = design
    settings = {}
    for number, call in enumerate(calls):
        if call[0] == "set_property" and call[-1] == "ps":
            settings |= dict(pairwise(call[2].split()))
            automated = [one[0] for one in calls[:number]].index("apply_bd_automation")
            assert automated < number  # later settings count
    ends = {end for command in ("connect_bd_intf_net", "connect_bd_net")
            for net in connections(calls, command) for end in net}
    switched = {f"USE__{name}": pin for name, pin in PORTS.items()} | PINS
    for setting, pin in switched.items():
        assert settings[f"CONFIG.PSU__{setting}"] == str(int(f"ps/{pin}" in ends)), setting
    assert sum(settings[f"CONFIG.PSU__USE__S_AXI_GP{port}"] == "1" for port in range(7)) == len(
        {end for end in ends if end.startswith("ps/S_AXI")})
    clocks = {end for end in ends if re.match("ps/(m|s)axi.*aclk", end)}
    assert {re.sub(r"ps/([ms])axi(\w+)_aclk", r"ps/\1_axi_\2", clock).upper() for clock in clocks} \
        == {end.upper() for end in ends if re.match("ps/[MS]_AXI", end)}


def test_memory_is_where_linux_leaves_it(design):
    board, config, calls = design
    size = 2 * config.cores * config.channel_bytes
    assert board.memory % board.memory_size == 0 and size <= board.memory_size
    [base] = [call[2] for call in calls if call[0] == "set_property" and "CONST_VAL" in call[2]]
    assert base.split()[-1] == f"{board.memory:#x}"
    text = board_files(board, config, "p")["reserved-memory.dtsi"]
    assert f"hypercast@{board.memory:x} {{" in text
    assert f"reg = <0x0 0x{board.memory:x} 0x0 0x{size:x}>;" in text and "no-map;" in text


def test_addresses_of_the_registers(design):
    board, _, calls = design
    assert ["assign_bd_address", "-offset", f"{board.registers:#x}", "-range", "4K",
            "-target_address_space", "ps/Data", "chip/s_axi/*"] in calls


def test_build_script():
    [board] = ZYNQ_BOARDS.values()
    files = board_files(board, PRESETS[board.preset], "chosen")
    calls = record(files["build.tcl"])
    [project] = [call for call in calls if call[0] == "create_project"]
    assert project[project.index("-part") + 1] == board.part
    assert [call[1].rpartition("/")[2] for call in calls if call[0] == "source"] == ["system.tcl"]
    assert calls[-1][0] == "write_hw_platform" and calls[-1][-1].endswith("/chosen.xsa")
    with pytest.raises(AssertionError, match="the clock is not met"):
        record(files["build.tcl"], "-0.1")
    with pytest.raises(AssertionError, match=r"does not know xilinx.com:kv260_som.*; install"):
        record(re.sub("^set boards .*$", "set boards {}", files["build.tcl"], flags=re.MULTILINE))
    assert "chosen.bit" in files["chosen.bif"]
    for name, text in files.items():
        assert not re.search(r"@[A-Z]+@|None|TODO", text), name


def test_too_little_memory():
    board = ZYNQ_BOARDS["kv260"]
    config = PRESETS["kv260"].replace(channel_words=1 << 22)
    check_memory(board, config)
    with pytest.raises(ConfigurationError, match="choose channel_words of at most 4194304"):
        check_memory(board, config.replace(channel_words=1 << 23))
