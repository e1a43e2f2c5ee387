# SPDX-License-Identifier: BSD-2-Clause
"""What can be chosen of an exported chip besides its configuration."""

from dataclasses import dataclass

from hypercast.errors import InputError
from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE
from hypercast.rtl.export.identifiers import check_identifier

__all__ = ["CHIP_MODULE", "DEFAULT_OPTIONS", "TOP_MODULE", "ExportOptions"]

#: Name of the top module, and of the chip in it, without a prefix.
TOP_MODULE = "hypercast"
CHIP_MODULE = "hypercast_chip"


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Names of an exported chip, and where its memory is.

    Parameters
    ----------
    external : bool
        Whether the memory channels are AXI4 managers instead of RAM in the chip.
    top_name : str
        Name of the top module; if empty, ``hypercast`` with the prefix.
    prefix : str
        What the names of all other modules begin with.
    sources : bool
        Whether attributes of the Verilog lead back to lines of Python.
    debug : bool
        Whether the chip contains a ``DebugTap``.
    ultra_ram : bool
        Whether large memories ask for UltraRAM.

    Raises
    ------
    InputError
        If a name is no identifier of Verilog, or is the name of another module or file.
    """

    external: bool = False
    top_name: str = ""
    prefix: str = ""
    sources: bool = False
    debug: bool = False
    ultra_ram: bool = True

    def __post_init__(self) -> None:
        if self.prefix:
            check_identifier(self.prefix + TOP_MODULE, f"with prefix {self.prefix!r}, module")
        check_identifier(self.top, "top module")
        for module in (CHIP_MODULE, CORE_MODULE, CONTROL_MODULE):
            if self.top == self.prefix + module:
                raise InputError(f"top module {self.top!r} has the name of a part of the chip; "
                                 f"take another name, or a prefix")
        if self.top.casefold() == "component":
            raise InputError(f"top module {self.top!r} would have a file {self.top}.xml beside the "
                             f"component.xml of Vivado's IP catalog; take another name")

    @property
    def top(self) -> str:
        """Name of the top module, of the files, and of the component."""
        return self.top_name or self.prefix + TOP_MODULE


#: Memory inside, names without a prefix.
DEFAULT_OPTIONS = ExportOptions()
