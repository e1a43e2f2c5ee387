# SPDX-License-Identifier: BSD-2-Clause
"""Waveforms to record, of some cycles and cores."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from vcd.gtkw import GTKWSave

from hypercast.errors import InputError
from hypercast.host.files.durable_file import open_new
from hypercast.rtl.config import Config
from hypercast.sim.fst_file import write_fst

__all__ = ["Waves"]


@dataclass(frozen=True, kw_only=True)
class Waves:
    """Waveforms to be written.

    Parameters
    ----------
    file : pathlib.Path
        The file. A save file for GTKWave and a command file for Surfer are written beside it.
    compressed : bool
        Whether it is an FST file instead of a VCD file.
    first, last : int
        The first cycle, and the first cycle after the last one.
    cores : tuple of int
        Cores whose signals are all written.
    of_step : bool
        Whether cycles count from the start of the training step that is recorded, instead of from
        the chip's reset.
    """

    file: Path
    compressed: bool = False
    first: int = 0
    last: int = 1000
    cores: tuple[int, ...] = (0,)
    of_step: bool = False

    def check(self, config: Config) -> None:
        """Raises ``InputError`` if there is no such core."""
        for core in self.cores:
            if not 0 <= core < config.cores:
                raise InputError(f"there is no core {core} whose waveforms could be written; the "
                                 f"chip has cores 0 to {config.cores - 1}")

    def open_vcd(self) -> TextIO:
        """The VCD file; one without a name, beside it, if the file is to be an FST file."""
        if self.compressed:
            return tempfile.TemporaryFile("w+", encoding="utf-8", dir=self.file.parent)
        return open_new(self.file)

    def finish(self, vcd: TextIO) -> None:
        """Close the file that ``open_vcd`` opened, and make an FST file of it if one is wanted."""
        with vcd:
            if self.compressed:
                vcd.seek(0)
                write_fst(vcd, self.file)

    def name_in(self, save: GTKWSave) -> None:
        """Name the file in a save file; GTKWave looks for it beside that, wherever both are."""
        save.savefile(self.save_file.name, abspath=False)
        save.dumpfile(self.file.name, abspath=False)

    @property
    def save_file(self) -> Path:
        """The save file for GTKWave."""
        return self.file.with_suffix(".gtkw")

    @property
    def command_file(self) -> Path:
        """The command file for Surfer."""
        return self.file.with_suffix(".sucl")
