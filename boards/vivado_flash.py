# SPDX-License-Identifier: BSD-2-Clause
"""A flash image of a bitstream, and the script that programs it, as Tcl for Vivado."""

from hypercast.boards.hbm_board import Flash

__all__ = ["FLASH_INTERFACE", "flash_image", "flash_script"]

#: How the FPGA is connected to its flash memory.
FLASH_INTERFACE = "SPIx4"

_IMAGE = """\
write_cfgmem -force -format mcs -interface @INTERFACE@ -size @SIZE@ -checksum \\
    -loadbit "up @OFFSET@ [file join $folder @NAME@.bit]" -file [file join $folder @NAME@.mcs]
"""

_SCRIPT = """\
# Programs the flash memory of @TITLE@ over JTAG, from which its FPGA is configured when power comes
# on. Run in this folder, after build.tcl: vivado -mode batch -source flash.tcl
set folder [file dirname [file normalize [info script]]]
open_hw_manager
connect_hw_server
open_hw_target
set device [lindex [get_hw_devices @DEVICE@*] 0]
current_hw_device $device
create_hw_cfgmem -hw_device $device [lindex [get_cfgmem_parts @PART@] 0]
set memory [get_property PROGRAM.HW_CFGMEM $device]
foreach {name value} {ADDRESS_RANGE use_file UNUSED_PIN_TERMINATION pull-none BLANK_CHECK 0
                      ERASE 1 CFG_PROGRAM 1 VERIFY 1 CHECKSUM 0} {
    set_property PROGRAM.$name $value $memory
}
set_property PROGRAM.FILES [list [file join $folder @NAME@.mcs]] $memory
create_hw_bitstream -hw_device $device [get_property PROGRAM.HW_CFGMEM_BITFILE $device]
program_hw_devices $device
program_hw_cfgmem -hw_cfgmem $memory
puts "programmed; switch the machine off and on again"
"""


def flash_image(flash: Flash, name: str) -> str:
    """Tcl, for the end of a build script, that makes ``NAME.mcs`` of ``NAME.bit``.

    Parameters
    ----------
    flash : Flash
        The board's flash memory.
    name : str
        Name of the project.
    """
    return _fill(_IMAGE, INTERFACE=FLASH_INTERFACE, SIZE=str(flash.size), NAME=name,
                 OFFSET=f"{flash.offset:#010x}")


def flash_script(flash: Flash, name: str, *, title: str, part: str) -> str:
    """Tcl that programs ``NAME.mcs``.

    Parameters
    ----------
    flash : Flash
        The board's flash memory.
    name, title, part : str
        Name of the project, what the board is called, and its FPGA with package.
    """
    return _fill(_SCRIPT, TITLE=title, NAME=name, PART=flash.part, DEVICE=part.partition("-")[0])


def _fill(text: str, **values: str) -> str:
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
