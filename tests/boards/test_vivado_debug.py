# SPDX-License-Identifier: BSD-2-Clause
"""The logic analyser of a board: a clock, and a probe for each bus that is marked."""

import pytest

from hypercast.boards.hbm_board import HBM_BOARDS
from hypercast.boards.hbm_project import board_scripts
from hypercast.boards.vivado_debug import DEBUG_SCRIPT, debug_script
from hypercast.boards.zynq_board import ZYNQ_BOARDS
from hypercast.boards.zynq_project import board_files
from hypercast.rtl.config import PRESETS
from tests.boards.vivado_stub import record

NETS = ["chip/tap/debug_start", "chip/tap/debug_busy_1[10]", "chip/tap/debug_busy_1[9]",
        "chip/tap/debug_busy_11[0]"]


def test_a_probe_for_each_bus():
    calls = record(debug_script(), nets=NETS)
    connected = {call[1]: call[2] for call in calls if call[0] == "connect_debug_port"}
    clock = connected.pop("analyser/clk")
    assert "get_pins" in [call[0] for call in calls] and clock
    connected = {port: nets.replace("{", "").replace("}", "") for port, nets in connected.items()}
    assert sorted(connected.values()) == sorted([
        NETS[0], f"{NETS[2]} {NETS[1]}", NETS[3]])  # the lowest bit first
    assert list(connected) == [f"analyser/probe{number}" for number in range(3)]
    widths = {call[3]: call[2] for call in calls
              if call[0] == "set_property" and call[1] == "port_width"}
    assert widths == {"analyser/clk": "1", **{port: str(len(nets.split()))
                                              for port, nets in connected.items()}}
    # The core itself comes with its first probe.
    assert len([call for call in calls if call[0] == "create_debug_port"]) == 2


def test_nothing_to_watch_is_an_error():
    with pytest.raises(AssertionError, match="no net that is marked"):
        record(debug_script())


@pytest.mark.parametrize("board, files", [
    (HBM_BOARDS["u50"], board_scripts), (ZYNQ_BOARDS["kv260"], board_files)], ids=["u50", "kv260"])
def test_the_script_runs_before_the_netlist_is_optimised(board, files):
    config = PRESETS[board.preset]
    plain, watched = (files(board, config, "p", debug=debug) for debug in (False, True))
    assert set(watched) - set(plain) == {DEBUG_SCRIPT}
    calls = record(watched["build.tcl"])
    [hook] = [call for call in calls if call[1] == "STEPS.OPT_DESIGN.TCL.PRE"]
    assert hook[2].endswith(f"/{DEBUG_SCRIPT}") and hook[3] == "impl_1"
    implemented, written = [number for number, call in enumerate(calls)
                            if call[0] == "launch_runs" and call[1] == "impl_1"]
    assert calls.index(hook) < implemented
    [probes] = [number for number, call in enumerate(calls) if call[0] == "write_debug_probes"]
    assert implemented < probes < written
    assert calls[probes][-1].endswith("/p.ltx")
    without = [call[0] for call in record(plain["build.tcl"])]
    assert "write_debug_probes" not in without
