# SPDX-License-Identifier: BSD-2-Clause
"""A Vivado project for a board with a processor, as texts of files."""

from collections.abc import Iterator

from hypercast.boards.vivado_build import build_script
from hypercast.boards.vivado_debug import DEBUG_SCRIPT, debug_script
from hypercast.boards.zynq_board import ZynqBoard
from hypercast.rtl.config import Config
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.rtl.export.interfaces import BASE, CLOCK, RESET
from hypercast.rtl.export.notice import notice

__all__ = ["OPTIONS", "board_files"]

#: How the chip is exported: with a manager for every memory channel.
OPTIONS = ExportOptions(external=True)
#: Name of the block design, and of the module that Vivado makes of it.
_DESIGN = "system"

_SETUP = """\
set boards [lsort [get_board_parts -quiet @BOARD@]]
if {![llength $boards]} {
    error "Vivado does not know @BOARD@; install the board's files from its Store, under Tools"
}
set_property board_part [lindex $boards end] [current_project]
set_property board_connections {@CONNECTIONS@} [current_project]
source [file join $folder @DESIGN@.tcl]
"""
_PLATFORM = """\
write_hw_platform -fixed -include_bit -force -file [file join $folder @NAME@.xsa]
"""
_DESIGN_END = """\
validate_bd_design
save_bd_design
generate_target all [get_files @DESIGN@.bd]
add_files -norecurse [make_wrapper -files [get_files @DESIGN@.bd] -top]
set_property top @DESIGN@_wrapper [current_fileset]
update_compile_order -fileset sources_1
"""
_RESERVED = """\
/* What the device tree that the board boots with has to contain, so that Linux leaves this memory
   to the chip. Without it, the chip overwrites what belongs to Linux. */
/ {
    reserved-memory {
        #address-cells = <2>;
        #size-cells = <2>;
        ranges;
        hypercast@@BASE@ {
            reg = <0x0 0x@BASE@ 0x0 0x@SIZE@>;
            no-map;
        };
    };
};
"""
_BOOTGEN = """\
all:
{
    [destination_device = pl] @NAME@.bit
}
"""


def board_files(board: ZynqBoard, config: Config, name: str, *,
                debug: bool = False) -> dict[str, str]:
    """Scripts and descriptions by file name; the chip's Verilog is in ``NAME.v`` besides.

    Parameters
    ----------
    board : ZynqBoard
        Board.
    config : Config
        Configuration of the chip.
    name : str
        Name of the project.
    debug : bool
        Whether a logic analyser watches what the chip's ``DebugTap`` marks.
    """
    def filled(text: str) -> str:
        for key, value in {
                "NAME": name, "DESIGN": _DESIGN, "BOARD": board.board_part,
                "CONNECTIONS": board.connections, "BASE": f"{board.memory:x}",
                "SIZE": f"{2 * config.cores * config.channel_bytes:x}"}.items():
            text = text.replace(f"@{key}@", value)
        return text

    header = "".join(f"# {line}".rstrip() + "\n" for line in notice(config))
    script = build_script(title=board.title, name=name, part=board.part, top=f"{_DESIGN}_wrapper",
                          setup=filled(_SETUP), debug=debug) + filled(_PLATFORM)
    design = "".join(f"{line}\n" for line in _design(board, config)) + filled(_DESIGN_END)
    return {"build.tcl": f"{header}\n{script}", f"{_DESIGN}.tcl": f"{header}\n{design}",
            **({DEBUG_SCRIPT: f"{header}\n{debug_script()}"} if debug else {}),
            "reserved-memory.dtsi": filled(_RESERVED), f"{name}.bif": filled(_BOOTGEN)}


def _design(board: ZynqBoard, config: Config) -> Iterator[str]:
    """Tcl of the block design: processor, chip, and what connects them."""
    system = board.system
    ports = range(min(len(system.memory_uses), config.cores))
    # Channels of a core share a port.
    managers = {port: [number for number in range(2 * config.cores)
                       if number // 2 % len(ports) == port] for port in ports}
    yield f"create_bd_design {_DESIGN}"
    yield from _ip("ps", system.ip)
    yield (f"apply_bd_automation -rule xilinx.com:bd_rule:{system.ip} -config {{{system.preset}}} "
           f"[get_bd_cells ps]")
    yield from _configure("ps", {**system.settings_of(len(ports)),
                                 system.frequency: board.frequency})
    yield f"create_bd_cell -type module -reference {OPTIONS.top} chip"
    yield from _ip("reset", "proc_sys_reset")
    yield from _ip("registers", "smartconnect", NUM_SI=1, NUM_MI=1)
    for port, numbers in managers.items():
        yield from _ip(f"memory_{port}", "smartconnect", NUM_SI=len(numbers), NUM_MI=1)
    yield from _ip("base", "xlconstant", CONST_WIDTH=BASE.width, CONST_VAL=f"{board.memory:#x}")

    joints = ["registers", *(f"memory_{port}" for port in ports)]
    yield _net(f"ps/{system.clock}", f"ps/{system.registers_clock}",
               *(f"ps/{system.memory_clock.format(port)}" for port in ports),
               "reset/slowest_sync_clk", f"chip/{CLOCK}", *(f"{joint}/aclk" for joint in joints))
    yield _net(f"ps/{system.reset}", "reset/ext_reset_in")
    yield _net("reset/peripheral_aresetn", f"chip/{RESET}",
               *(f"{joint}/aresetn" for joint in joints))
    yield _net("base/dout", f"chip/{BASE.name}")
    yield _bus(f"ps/{system.registers}", "registers/S00_AXI")
    yield _bus("registers/M00_AXI", "chip/s_axi")
    for port, numbers in managers.items():
        for place, number in enumerate(numbers):
            yield _bus(f"chip/m_axi_{number:02}", f"memory_{port}/S{place:02}_AXI")
        yield _bus(f"memory_{port}/M00_AXI", f"ps/{system.memory.format(port)}")
    yield (f"assign_bd_address -offset {board.registers:#x} -range 4K -target_address_space "
           f"[get_bd_addr_spaces ps/Data] [get_bd_addr_segs chip/s_axi/*]")
    yield "assign_bd_address"


def _ip(cell: str, kind: str, **settings: object) -> Iterator[str]:
    yield f"create_bd_cell -type ip -vlnv xilinx.com:ip:{kind} {cell}"
    if settings:
        yield from _configure(cell, settings)


def _configure(cell: str, settings: dict[str, object]) -> Iterator[str]:
    pairs = " ".join(f"CONFIG.{name} {{{value}}}" for name, value in settings.items())
    yield f"set_property -dict [list {pairs}] [get_bd_cells {cell}]"


def _net(*pins: str) -> str:
    return f"connect_bd_net {' '.join(f'[get_bd_pins {pin}]' for pin in pins)}"


def _bus(source: str, target: str) -> str:
    return f"connect_bd_intf_net [get_bd_intf_pins {source}] [get_bd_intf_pins {target}]"
