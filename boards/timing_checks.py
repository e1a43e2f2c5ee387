# SPDX-License-Identifier: BSD-2-Clause
"""What the makers' tools are told to do about a missed clock: stop before the bitstream is made.

Each is Tcl. nextpnr needs none, it stops by itself.
"""

from amaranth.build.run import BuildPlan

__all__ = ["QUARTUS_CHECK", "add_check"]

#: For Vivado, the routed design in memory.
_VIVADO_CHECK = """\
foreach {kind type} {setup max hold min} {
    set worst [get_property SLACK [get_timing_paths -delay_type $type -max_paths 1]]
    puts "worst slack of $kind: $worst ns"
    if {![string is double -strict $worst] || $worst < 0} {
        error "the clock is not met, see hypercast_timing.rpt"
    }
}
"""
#: For Gowin EDA, by its report as text; with ``set_option -gen_text_timing_rpt 1``.
_GOWIN_CHECK = """\
set report [open impl/pnr/project.tr]
set text [read $report]
close $report
foreach kind {Setup Hold} {
    if {![regexp "<Numbers of $kind Violated Endpoints>:\\\\s*(\\\\d+)" $text all count]} {
        puts "there is no number of $kind violations in impl/pnr/project.tr"
        exit 1
    }
    puts "endpoints that violate $kind: $count"
    if {$count > 0} {
        puts "the clock is not met, see impl/pnr/project.tr"
        exit 1
    }
}
"""
#: By toolchain: the line of the project's script before which to check, and the check.
_CHECKS = {
    "Vivado": ("write_bitstream ", _VIVADO_CHECK),
    "Gowin": ("file copy -force impl/pnr/project.fs", _GOWIN_CHECK),
}
#: For Quartus' timing analyser, as a script of Amaranth's: in each corner, the worst path of each
#: kind.
QUARTUS_CHECK = """\
project_open -revision {{name}} {{name}}
create_timing_netlist
read_sdc
foreach_in_collection corner [get_available_operating_conditions] {
    set_operating_conditions $corner
    update_timing_netlist
    foreach kind {setup hold recovery removal} {
        foreach_in_collection path [get_timing_paths -$kind -npaths 1] {
            set slack [get_path_info $path -slack]
            post_message -type info "worst slack of $kind: $slack ns"
            if {$slack < 0} {
                post_message -type error "the clock is not met ($kind), see {{name}}.sta.rpt"
                qexit -error
            }
        }
    }
}
qexit -success
"""


def add_check(plan: BuildPlan, toolchain: str, name: str) -> None:
    """Add the check of a toolchain to a project, if it needs one.

    Parameters
    ----------
    plan : amaranth.build.BuildPlan
        The project.
    toolchain, name : str
        Tools of the project, as Amaranth calls them, and the project's name.
    """
    if toolchain not in _CHECKS:
        return
    line, check = _CHECKS[toolchain]
    script = plan.files[f"{name}.tcl"]
    text = script if isinstance(script, str) else script.decode()
    assert text.count(f"\n{line}") == 1, f"Amaranth's script for {toolchain} is another one"
    plan.files[f"{name}.tcl"] = text.replace(f"\n{line}", f"\n{check}{line}")
