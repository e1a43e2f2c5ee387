# SPDX-License-Identifier: BSD-2-Clause
"""Writes waveforms of the network: a VCD or FST file, and files for GTKWave and Surfer."""

from collections.abc import Iterator

from vcd.gtkw import GTKWSave

from hypercast.host.files.durable_file import open_new, write_durably
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.sim.surfer_commands import SurferCommands
from hypercast.sim.waves import Waves

__all__ = ["write_waves"]


def write_waves(waves: Waves, text: bytes, config: Config) -> None:
    """Write the file of routers, and groups of their ports to begin with.

    Parameters
    ----------
    waves : Waves
        Which routers, and where to write.
    text : bytes
        The VCD file.
    config : Config
        Configuration of the chip.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    file = waves.open_vcd()
    file.write(text.decode())
    waves.finish(file)
    with open_new(waves.save_file) as file:
        _save(GTKWSave(file), waves, config)
    write_durably(waves.command_file, _commands(waves, config).encode())


def _streams(config: Config) -> Iterator[str]:
    """Names of a router's ports that a core is at."""
    yield "inject"
    for number in range(config.eject):
        yield f"eject__{number}"


def _links(config: Config) -> Iterator[str]:
    """Names of a router's ports that links are at."""
    for dimension in range(config.dimensions):
        for direction in ("outgoing", "incoming"):
            yield f"{direction}__{dimension}"


def _save(save: GTKWSave, waves: Waves, config: Config) -> None:
    bits = flit(config).size - 1
    credits = f"credit[{config.planes - 1}:0]" if config.planes > 1 else "credit"
    waves.name_in(save)
    save.timestart(waves.first)
    for core in waves.cores:
        with save.group(f"router of core {core}"):
            for port in _streams(config):
                for name in ("valid", "ready", f"payload[{bits}:0]"):
                    save.trace(f"router_{core}.{port}__{name}")
            for port in _links(config):
                with save.group(port, closed=True):
                    for name in ("valid", f"flit[{bits}:0]", credits):
                        save.trace(f"router_{core}.{port}__{name}")


def _commands(waves: Waves, config: Config) -> str:
    commands = SurferCommands()
    for core in waves.cores:
        commands.divider(f"router_{core}")
        commands.variables(f"router_{core}.{port}__{name}" for port in _streams(config)
                           for name in ("valid", "ready", "payload"))
        commands.variables(f"router_{core}.{port}__{name}" for port in _links(config)
                           for name in ("valid", "flit", "credit"))
    return commands.text
