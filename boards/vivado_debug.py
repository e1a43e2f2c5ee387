# SPDX-License-Identifier: BSD-2-Clause
"""The Tcl script that has a logic analyser watch what a ``DebugTap`` marks."""

__all__ = ["DEBUG_SCRIPT", "debug_script"]

#: Name of the file.
DEBUG_SCRIPT = "debug.tcl"
#: Cycles that are recorded.
_DEPTH = 4096

_DEBUG = f"""\
# An integrated logic analyser (PG172) that watches every net that is marked, a probe for each bus.
set buses [dict create]
foreach net [lsort -dictionary [get_nets -hierarchical -filter {{MARK_DEBUG == 1}}]] {{
    dict lappend buses [regsub {{\\[\\d+\\]$}} $net ""] $net
}}
if {{![dict size $buses]}} {{
    error "synthesis has kept no net that is marked for the logic analyser"
}}
create_debug_core analyser ila
set_property C_DATA_DEPTH {_DEPTH} [get_debug_cores analyser]
set_property C_INPUT_PIPE_STAGES 1 [get_debug_cores analyser]
set_property C_ADV_TRIGGER false [get_debug_cores analyser]
set_property C_EN_STRG_QUAL true [get_debug_cores analyser]
set_property ALL_PROBE_SAME_MU true [get_debug_cores analyser]
set_property ALL_PROBE_SAME_MU_CNT 2 [get_debug_cores analyser]
# All that is marked is registers of one clock.
set first [lindex [lindex [dict values $buses] 0] 0]
set register [get_cells -of_objects [get_pins -leaf -filter {{DIRECTION == OUT}} -of_objects \\
    [get_nets $first]]]
set_property port_width 1 [get_debug_ports analyser/clk]
connect_debug_port analyser/clk [get_nets -of_objects [get_pins -filter {{IS_CLOCK == 1}} \\
    -of_objects $register]]
set number 0
dict for {{bus nets}} $buses {{
    if {{$number}} {{ create_debug_port analyser probe }}
    set port [get_debug_ports analyser/probe$number]
    set_property port_width [llength $nets] $port
    connect_debug_port analyser/probe$number [get_nets $nets]
    incr number
}}
"""


def debug_script() -> str:
    """Tcl for the netlist of a synthesis: an analyser, its clock, and a probe for each bus."""
    return _DEBUG
