# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast simulate``: the simulated chip for programs that are not ours."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import click

from hypercast.host.commands.options import OUTPUT, configuration, json_option, print_json
from hypercast.host.commands.output import make_console
from hypercast.host.commands.progress_text import ProgressText
from hypercast.rtl.config import Config

__all__ = ["simulate"]

#: Bits per second that are recommended. Nothing takes time on this port; but drivers wait the
#: longer for an answer the slower a port is, and a simulation is slow.
_BAUD = 9600
#: What ends the simulation as Ctrl-C does; that too, which shells let background jobs ignore.
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
#: How the names of pseudo-terminals begin, on Linux and macOS.
_TERMINALS = ("/dev/pts/", "/dev/ttys")


@click.command()
@configuration("demo")
@click.option("--pty", is_flag=True, help="As a serial port: a pseudo-terminal, see docs/link.md.")
@click.option("--link", type=OUTPUT, metavar="PATH",
              help="Another name for the port, a symbolic link; it is removed at the end.")
@json_option
def simulate(config: Config, pty: bool, link: Path | None, as_json: bool) -> None:
    """Simulate a chip for drivers in other languages.

    It runs until Ctrl-C.

    The port speaks the protocol of boards with a serial port. Drivers may come and go, one at a
    time. The whole chip is simulated, as by --device rtl; the link before it is a model.
    """
    from hypercast.host.runtime.serial.bridged_chip import BridgedChip
    from hypercast.sim.cxxrtl_transport import CxxrtlTransport
    from hypercast.sim.serial_terminal import SerialTerminal

    if not pty:
        raise click.UsageError("simulate needs to know how the chip is to be reached; add --pty, "
                               "for a serial port")
    if link and os.path.lexists(link) and not _to_a_terminal(link):
        raise click.UsageError(f"--link {link} is there already, and no link to a terminal; remove "
                               f"it, or give another name")
    console = make_console(errors=as_json)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_end_by_signals())
        with ProgressText("opening the simulated chip", console) as progress:
            chip = CxxrtlTransport(config, progress=progress.update)
        stack.callback(chip.close)
        terminal = SerialTerminal(BridgedChip(chip))
        stack.callback(terminal.close)
        name = terminal.name
        if link:
            stack.enter_context(_link_terminal(link, name))
            name = str(link)
        _announce(config, name, as_json)
        with contextlib.suppress(KeyboardInterrupt):
            terminal.serve()


def _announce(config: Config, name: str, as_json: bool) -> None:
    device = f"serial:{name}@{_BAUD}"
    if as_json:
        print_json({"port": name, "device": device, "configuration_hash": f"{config.hash:#010x}",
                    "configuration": config.to_dict()})
        return
    click.echo(f"a chip of {config.cores} cores, {config.lanes} lanes, {config.element_width}-bit "
               f"elements, configuration {config.hash:#010x}\n"
               f"serial port: {name}\n"
               f"for commands of hypercast: --device {device}\n"
               f"Ctrl-C ends the simulation")


@contextlib.contextmanager
def _end_by_signals() -> Iterator[None]:
    """Signals that end a program are Ctrl-C, so that nothing is left behind."""
    before = {name: signal.signal(getattr(signal, name), signal.default_int_handler)
              for name in _SIGNALS if hasattr(signal, name)}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _to_a_terminal(path: Path) -> bool:
    """Whether this is a link to a terminal, perhaps of a simulation that was killed."""
    return path.is_symlink() and os.readlink(path).startswith(_TERMINALS)


@contextlib.contextmanager
def _link_terminal(link: Path, name: str) -> Iterator[None]:
    """A symbolic link to a terminal; a link that an earlier simulation has left is replaced."""
    if _to_a_terminal(link):
        link.unlink()
    link.symlink_to(name)
    try:
        yield
    finally:
        if link.is_symlink() and os.readlink(link) == name:
            link.unlink()
