"""Writes waveforms of the network: a VCD or FST file, and a save file of GTKWave."""

from vcd.gtkw import GTKWSave

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
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
    waves.vcd_file.write_bytes(text)
    waves.finish()
    bits = flit(config).size - 1
    credits = f"credit[{config.planes - 1}:0]" if config.planes > 1 else "credit"
    with waves.save_file.open("w") as file:
        save = GTKWSave(file)
        save.dumpfile(str(waves.file.resolve()))
        save.timestart(waves.first)
        for core in waves.cores:
            with save.group(f"router of core {core}"):
                for port in ("inject", *(f"eject__{number}" for number in range(config.eject))):
                    for name in ("valid", "ready", f"payload[{bits}:0]"):
                        save.trace(f"router_{core}.{port}__{name}")
                for port in (f"{direction}__{dimension}" for dimension in range(config.dimensions)
                             for direction in ("outgoing", "incoming")):
                    with save.group(port, closed=True):
                        for name in ("valid", f"flit[{bits}:0]", credits):
                            save.trace(f"router_{core}.{port}__{name}")
