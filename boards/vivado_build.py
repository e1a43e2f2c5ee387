# SPDX-License-Identifier: BSD-2-Clause
"""The Tcl script with which Vivado builds a project in the folder it lies in."""

from hypercast.boards.vivado_debug import DEBUG_SCRIPT

__all__ = ["build_script"]

_SCRIPT = """\
# Builds the bitstream of @TITLE@. Run in this folder: vivado -mode batch -source build.tcl
set folder [file dirname [file normalize [info script]]]
create_project -force @NAME@ [file join $folder project] -part @PART@
add_files -norecurse [file join $folder @NAME@.v]
@SETUP@
proc run {name args} {
    launch_runs $name -jobs 4 {*}$args
    wait_on_run $name
    if {[get_property PROGRESS [get_runs $name]] ne "100%"} {
        error "$name failed, see its log in [get_property DIRECTORY [get_runs $name]]"
    }
}

run synth_1
set_property STEPS.PHYS_OPT_DESIGN.IS_ENABLED true [get_runs impl_1]
@HOOK@run impl_1
open_run impl_1
report_timing_summary -file [file join $folder timing.txt]
report_utilization -hierarchical -hierarchical_depth 4 -file [file join $folder utilisation.txt]
foreach {kind slack} {setup STATS.WNS hold STATS.WHS} {
    set worst [get_property $slack [get_runs impl_1]]
    puts "worst slack of $kind: $worst ns"
    if {![string is double -strict $worst] || $worst < 0} {
        error "the clock is not met, see timing.txt"
    }
}
@PROBES@close_design

run impl_1 -to_step write_bitstream
file copy -force [file join [get_property DIRECTORY [get_runs impl_1]] @TOP@.bit] \\
    [file join $folder @NAME@.bit]
"""
_HOOK = f"""\
# Before the netlist is optimised, in the process of the run.
set_property STEPS.OPT_DESIGN.TCL.PRE [file join $folder {DEBUG_SCRIPT}] [get_runs impl_1]
"""
_PROBES = """\
write_debug_probes -force [file join $folder @NAME@.ltx]
"""


def build_script(*, title: str, name: str, part: str, top: str, setup: str,
                 debug: bool = False) -> str:
    """Tcl that makes ``NAME.bit``, ``timing.txt`` and ``utilisation.txt`` of ``NAME.v``.

    Parameters
    ----------
    title, name, part, top : str
        What the board is called, and the project; FPGA; top module.
    setup : str
        Tcl that adds what there is besides ``NAME.v``, and sets the top.
    debug : bool
        Whether ``DEBUG_SCRIPT`` is to be run, and ``NAME.ltx``, its probes, to be written.
    """
    values = {"HOOK": _HOOK if debug else "", "PROBES": _PROBES if debug else "",
              "TITLE": title, "NAME": name, "PART": part, "TOP": top, "SETUP": setup}
    script = _SCRIPT
    for key, value in values.items():
        script = script.replace(f"@{key}@", value)
    return script
