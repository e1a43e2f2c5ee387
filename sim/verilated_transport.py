# SPDX-License-Identifier: BSD-2-Clause
"""The exported chip, compiled by Verilator: our own simulation is compared with it."""

import ctypes
from collections.abc import Callable
from pathlib import Path

from hypercast.host.transport.transport import Transport, TransportError
from hypercast.rtl.config import Config
from hypercast.sim.library_build import Design, build

__all__ = ["VerilatedTransport"]

_HARNESS = Path(__file__).parent / "verilated_harness.cpp"


class VerilatedTransport(Transport):
    """A simulated chip behind its AXI4-Lite port.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    threads : int
        How many threads evaluate it.
    progress : callable
        Called with a line of text before each slow step.

    Raises
    ------
    BuildError
        If Verilator or the compiler fails, or Verilator is not installed.
    """

    def __init__(self, config: Config, *, threads: int = 1,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        library = ctypes.CDLL(str(build(Design(
            config=config, harness=_HARNESS, verilated=True, variant=f"{threads} threads",
            convert=lambda folder: _convert(config, threads, folder)), progress=progress)))
        for name, result, arguments in (
                ("chip", ctypes.c_void_p, [ctypes.c_uint]),
                ("close", None, [ctypes.c_void_p]),
                ("wait", None, [ctypes.c_void_p, ctypes.c_uint64]),
                ("read", ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint32,
                                         ctypes.POINTER(ctypes.c_uint32)]),
                ("write", ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32])):
            function = getattr(library, f"hypercast_{name}")
            function.restype, function.argtypes = result, arguments
        self._library = library
        self._chip = library.hypercast_chip(threads)

    def read(self, address: int) -> int:
        value = ctypes.c_uint32()
        if not self._library.hypercast_read(self._chip, address, ctypes.byref(value)):
            raise TransportError(f"register {address:#x} cannot be read")
        return value.value

    def write(self, address: int, value: int) -> None:
        if not self._library.hypercast_write(self._chip, address, value):
            raise TransportError(f"register {address:#x} cannot be written")

    def wait(self, cycles: int) -> None:
        self._library.hypercast_wait(self._chip, cycles)

    def close(self) -> None:
        chip, self._chip = self._chip, None
        if chip is not None:
            self._library.hypercast_close(chip)


def _convert(config: Config, threads: int, folder: Path) -> list[str]:
    """Write the C++ of the exported chip; returns the names of its files."""
    from hypercast.rtl.export.chip_conversion import to_verilog
    from hypercast.rtl.export.export_options import TOP_MODULE
    from hypercast.sim.verilator_build import verilate

    source = folder / "chip.v"
    source.write_text(to_verilog(config))
    return verilate(source, top=TOP_MODULE, folder=folder, threads=threads)
