# SPDX-License-Identifier: BSD-2-Clause
"""The boards with a processor beside the FPGA: what differs between them."""

from dataclasses import dataclass

from hypercast.rtl.config import Config, ConfigurationError

__all__ = ["ZYNQ_BOARDS", "ProcessingSystem", "ZynqBoard", "check_memory"]


@dataclass(frozen=True, kw_only=True)
class ProcessingSystem:
    """Vivado's names of the processor, its clocks, and its ports to and from the FPGA.

    Parameters
    ----------
    ip : str
        The processor's IP.
    preset : str
        Arguments of ``apply_bd_automation``, so that memory and peripherals suit the board.
    settings : dict
        Ports that are to be there, and how wide they are; and all that are not, since a board's
        preset may have switched them on.
    frequency : str
        The setting that is the clock's frequency in MHz.
    clock, reset : str
        Pins of the clock for the FPGA, and of its reset.
    registers, registers_clock : str
        Port that reaches registers, and the pin of its clock.
    memory, memory_clock : str
        Ports that reach memory, and the pins of their clocks; with their number at the braces.
    memory_uses, memory_widths : tuple of str
        For each of these ports, the settings that say whether it is there, and how wide it is.
    memory_width : int
        How wide they are, in bits.
    """

    ip: str
    preset: str
    settings: dict[str, object]
    frequency: str
    clock: str
    reset: str
    registers: str
    registers_clock: str
    memory: str
    memory_clock: str
    memory_uses: tuple[str, ...]
    memory_widths: tuple[str, ...]
    memory_width: int

    def settings_of(self, ports: int) -> dict[str, object]:
        """All settings of a processor with so many ports that reach memory."""
        return {**self.settings,
                **{use: int(port < ports) for port, use in enumerate(self.memory_uses)},
                **dict.fromkeys(self.memory_widths[:ports], self.memory_width)}


#: Zynq UltraScale+ (AMD PG201, UG1085). Ports are 128 bits wide, which is what they are when power
#: comes on: so nothing depends on how the board has booted.
_ULTRASCALE = ProcessingSystem(
    ip="zynq_ultra_ps_e", preset="apply_board_preset 1",
    settings={
        "PSU__USE__M_AXI_GP0": 1, "PSU__MAXIGP0__DATA_WIDTH": 128, "PSU__FPGA_PL0_ENABLE": 1,
        "PSU__USE__FABRIC__RST": 1, "PSU__NUM_FABRIC_RESETS": 1,
        **{f"PSU__USE__{port}": 0 for port in (
            "M_AXI_GP1", "M_AXI_GP2", "S_AXI_GP0", "S_AXI_GP1", "S_AXI_GP6", "S_AXI_ACP",
            "S_AXI_ACE", "IRQ0", "IRQ1", "VIDEO", "AUDIO")},
        **{f"PSU__FPGA_PL{clock}_ENABLE": 0 for clock in (1, 2, 3)}},
    frequency="PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ", clock="pl_clk0", reset="pl_resetn0",
    registers="M_AXI_HPM0_FPD", registers_clock="maxihpm0_fpd_aclk",
    memory="S_AXI_HP{}_FPD", memory_clock="saxihp{}_fpd_aclk",
    memory_uses=tuple(f"PSU__USE__S_AXI_GP{port}" for port in range(2, 6)),
    memory_widths=tuple(f"PSU__SAXIGP{port}__DATA_WIDTH" for port in range(2, 6)),
    memory_width=128)


@dataclass(frozen=True, kw_only=True)
class ZynqBoard:
    """A board on which a processor runs Linux, and the chip's memory is a part of the processor's.

    It needs no pins: clock, reset, registers and memory come from the processor.

    Parameters
    ----------
    title : str
        The maker's name for it.
    part : str
        FPGA, package and speed grade.
    fpga : str
        The FPGA in ``FPGAS``.
    board_part : str
        Vivado's description of the board, any version.
    connections : str
        Descriptions of boards it is plugged into, as ``board_connections`` has them.
    system : ProcessingSystem
        The processor.
    frequency : int
        Clock of the chip in MHz: what the board's own firmware sets, so that nothing has to.
    registers : int
        Physical address of the registers.
    memory, memory_size : int
        Physical address, and bytes, of the memory that Linux has to leave to the chip. The address
        is a multiple of the size.
    preset : str
        Configuration unless another is asked for.
    """

    title: str
    part: str
    fpga: str
    board_part: str
    connections: str
    system: ProcessingSystem
    frequency: int
    registers: int
    memory: int
    memory_size: int
    preset: str


#: The boards by name.
ZYNQ_BOARDS = {
    "kv260": ZynqBoard(
        title="AMD Kria KV260", part="xck26-sfvc784-2LV-c", fpga="XCK26",
        board_part="xilinx.com:kv260_som:part0:*",
        connections="som240_1_connector xilinx.com:kv260_carrier:som240_1_connector:*",
        system=_ULTRASCALE, frequency=100, registers=0xA000_0000, memory=0x6000_0000,
        memory_size=1 << 28, preset="kv260"),
}


def check_memory(board: ZynqBoard, config: Config) -> None:
    """Refuse channels for which there is not enough memory.

    Raises
    ------
    ConfigurationError
        If they take more than Linux leaves to them.
    """
    size = 2 * config.cores * config.channel_bytes
    if size > board.memory_size:
        words = config.channel_words * board.memory_size // size
        raise ConfigurationError(
            f"{2 * config.cores} memory channels of {config.channel_words} words take "
            f"{size >> 20} MiB, but the {board.title} leaves {board.memory_size >> 20} MiB to "
            f"them; choose channel_words of at most {words}")
