# SPDX-License-Identifier: BSD-2-Clause
"""Runs the Tcl of a project with commands of Vivado that only record how they are called."""

import shutil
import subprocess
import tempfile

import pytest

__all__ = ["record"]

#: Commands of Vivado that projects use: those that return objects, and the others.
_QUERIES = ("current_design", "current_fileset", "current_project", "get_bd_addr_segs",
            "get_bd_addr_spaces", "get_bd_cells", "get_bd_intf_pins", "get_bd_pins",
            "get_board_parts", "get_cells", "get_cfgmem_parts", "get_debug_cores",
            "get_debug_ports", "get_files", "get_hw_devices", "get_ips", "get_pblocks", "get_pins",
            "get_ports", "get_runs")
_COMMANDS = ("add_cells_to_pblock", "add_files", "apply_bd_automation", "assign_bd_address",
             "close_design", "connect_bd_intf_net", "connect_bd_net", "connect_debug_port",
             "connect_hw_server", "create_bd_cell", "create_bd_design", "create_clock",
             "create_debug_core", "create_debug_port", "create_hw_bitstream",
             "create_hw_cfgmem", "create_ip", "create_pblock", "create_project",
             "current_hw_device", "generate_target", "launch_runs", "make_wrapper",
             "open_hw_manager", "open_hw_target", "open_run", "program_hw_cfgmem",
             "program_hw_devices", "report_timing_summary", "report_utilization", "resize_pblock",
             "save_bd_design", "set_false_path", "set_property", "update_compile_order",
             "validate_bd_design", "wait_on_run", "write_cfgmem", "write_debug_probes",
             "write_hw_platform")
_PRELUDE = """\
proc record {arguments} { puts [join $arguments "\\t"] }
foreach name {%s} {
    proc $name args "record \\[linsert \\$args 0 $name\\]; lindex \\$args end"
}
foreach name {current_design current_fileset current_project} {
    proc $name args "return $name"
}
foreach name {%s} {
    proc $name args "record \\[linsert \\$args 0 $name\\]"
}
proc get_nets args {
    record [linsert $args 0 get_nets]
    if {"-hierarchical" in $args} { return {%s} }
    lindex $args end
}
proc source args { record [linsert $args 0 source] }
rename file tcl_file
proc file args {
    if {[lindex $args 0] eq "copy"} { record [linsert $args 0 file]; return }
    uplevel 1 [linsert $args 0 tcl_file]
}
proc get_property {name object} {
    switch -glob $name { PROGRESS { return 100%% } STATS.* { return %s } default { return folder } }
}
"""


def record(script, slack="0.5", nets=()):
    """The commands that a script calls, in order, each a list of words.

    Parameters
    ----------
    script : str
        Tcl.
    slack : str
        Slack of every timing path.
    nets : sequence of str
        Nets of the design that a search in its hierarchy finds.

    Raises
    ------
    AssertionError
        If the script fails, with Tcl's message.
    """
    if not shutil.which("tclsh"):
        pytest.skip("no tclsh")
    prelude = _PRELUDE % (" ".join(_QUERIES), " ".join(_COMMANDS),
                          " ".join(f"{{{net}}}" for net in nets), slack)
    with tempfile.NamedTemporaryFile("w", suffix=".tcl") as file:
        file.write(prelude + script)
        file.flush()
        result = subprocess.run(["tclsh", file.name], text=True, capture_output=True)
    assert result.returncode == 0 and not result.stderr, result.stderr
    return [line.split("\t") for line in result.stdout.splitlines() if "\t" in line]
