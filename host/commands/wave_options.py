# SPDX-License-Identifier: BSD-2-Clause
"""Options of commands that write waveforms of the simulated chip."""

import functools
from pathlib import Path
from typing import Any

import click

from hypercast.host.commands.number_types import WholeRange
from hypercast.host.commands.options import OUTPUT, Command
from hypercast.host.files.durable_file import require_writable
from hypercast.host.files.reading.whole_numbers import whole_number
from hypercast.sim.fst_file import fst_library
from hypercast.sim.waves import Waves

__all__ = ["WAVE_OPTIONS", "wave_options"]

#: Names of the options.
WAVE_OPTIONS = ("--vcd", "--fst", "--wave-cycles", "--wave-core")


class _Cycles(click.ParamType[tuple[int, int]]):
    """A range of cycles, FIRST:LAST."""

    name = "FIRST:LAST"

    def convert(self, value: Any, parameter: click.Parameter | None,
                context: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        first, separator, last = value.partition(":")
        try:
            found = whole_number(first), whole_number(last)
        except ValueError:
            found = None
        if not separator or found is None or not 0 <= found[0] < found[1] < 1 << 63:
            self.fail(f"{value!r} is no range of cycles FIRST:LAST, such as 0:1000, of which LAST "
                      f"is the first cycle no more", parameter, context)
        return found


def wave_options(command: Command, *, of_step: bool, since: str) -> Command:
    """Add ``--vcd``, ``--fst`` and what belongs to them, as ``waves`` (or None) of the command.

    Parameters
    ----------
    command : callable
        The command.
    of_step : bool
        As in ``Waves``.
    since : str
        What cycles count from, for the help.
    """
    @functools.wraps(command)
    def wrapped(*args: Any, vcd: Path | None, fst: Path | None,
                wave_cycles: tuple[int, int] | None, wave_cores: tuple[int, ...],
                **kwargs: Any) -> None:
        file = vcd or fst
        if vcd and fst:
            raise click.UsageError("--vcd and --fst are two forms of one file; give one of them")
        if file is None and (wave_cycles or wave_cores):
            raise click.UsageError("--wave-cycles and --wave-core say which waveforms --vcd or "
                                   "--fst writes; give one of these as well")
        if fst:
            fst_library()
        if file:
            require_writable(file)  # fails before the chip is compiled, not after it
        first, last = wave_cycles or (0, 1000)
        waves = Waves(file=file, compressed=bool(fst), first=first, last=last, of_step=of_step,
                      cores=tuple(dict.fromkeys(wave_cores)) or (0,)) if file else None
        return command(*args, waves=waves, **kwargs)
    for option in (
            click.option("--wave-core", "wave_cores", type=WholeRange(0), multiple=True,
                         metavar="N", help="Core whose signals are written; may be repeated.  "
                                           "[default: 0]"),
            click.option("--wave-cycles", type=_Cycles(),
                         help=f"Which cycles, counted from {since}.  [default: 0:1000]"),
            click.option("--fst", type=OUTPUT, metavar="FILE.fst",
                         help="The same as a file many times smaller, for GTKWave or Surfer."),
            click.option("--vcd", type=OUTPUT, metavar="FILE.vcd",
                         help="Write waveforms of the simulated chip, and files beside them "
                              "with which GTKWave (.gtkw) and Surfer (.sucl) show them; needs a "
                              "slower chip, which is compiled first.")):
        wrapped = option(wrapped)
    return wrapped
