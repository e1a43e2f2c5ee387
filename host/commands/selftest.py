# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast selftest``: tests a chip and names what is broken."""

import contextlib
import sys
from functools import partial

import click
from rich.console import Console

from hypercast.host.commands.options import configuration, json_option, print_json
from hypercast.host.commands.output import make_console
from hypercast.host.commands.progress_text import ProgressText
from hypercast.host.commands.wave_options import wave_options
from hypercast.host.runtime.chip_transport import RTL, open_transport
from hypercast.host.selftest.run import SECTIONS, Section, self_test
from hypercast.rtl.config import Config
from hypercast.sim.waves import Waves

__all__ = ["selftest"]


@click.command()
@configuration("tiny")
@click.option("--device", default=RTL, show_default=True, metavar="DEVICE",
              help="rtl: the whole chip, simulated. serial[:PORT][@BAUD]: a board on a serial "
                   "port. xdma:FILE: a board on PCIe. "
                   "mapped:FILE[@ADDRESS]: a board whose processor this is.")
@click.option("--section", "sections", type=click.Choice(list(SECTIONS)), multiple=True,
              help="Run only this section; may be repeated.")
@click.option("--quick", is_flag=True,
              help="Test memories only at addresses that differ in one bit.")
@partial(wave_options, of_step=False, since="the chip's reset")
@json_option
def selftest(config: Config, device: str, sections: tuple[str, ...], quick: bool,
             waves: Waves | None, as_json: bool) -> None:
    """Test memories, links and arithmetic of a chip.

    What is broken is named, and the exit status is 1 then.
    """
    console = make_console(errors=as_json)
    with ProgressText("opening the device", console) as progress, contextlib.closing(
            open_transport(device, config, waves=waves, progress=progress.update)) as transport:
        sound = True
        for section in self_test(transport, config, sections=sections or tuple(SECTIONS),
                                 quick=quick, progress=progress.update):
            sound &= not section.findings
            if as_json:
                print_json({"section": section.name, "omitted": section.omitted,
                            "findings": [finding._asdict() for finding in section.findings]})
            else:
                _print(console, section)
    if not sound:
        sys.exit(1)


def _print(console: Console, section: Section) -> None:
    if section.omitted:
        console.print(f"{section.name}: not tested, {section.omitted}", style="yellow")
    elif not section.findings:
        console.print(f"{section.name}: sound ({SECTIONS[section.name]})", style="green")
    for finding in section.findings:
        console.print(f"{section.name}: {finding.part}: {finding.text}", style="red")
