# SPDX-License-Identifier: BSD-2-Clause
"""The top of the exported chip, in Verilog: names that tools know, and a reset as AMBA has it."""

from collections.abc import Iterator, Sequence

from hypercast.rtl.config import Config
from hypercast.rtl.export.export_options import CHIP_MODULE, ExportOptions
from hypercast.rtl.export.interfaces import (
    BASE,
    CLOCK,
    RESET,
    STRIDE,
    Interface,
    Port,
    interfaces,
    ports,
)

__all__ = ["BUSES", "top_verilog"]

#: Vivado's definitions of interfaces: library and name.
BUSES = {"clock": ("signal", "clock"), "reset": ("signal", "reset"),
         "axi4lite": ("interface", "aximm"), "axi4": ("interface", "aximm")}

_RESET_LOGIC = """\
  // {reset} may fall at any time, and rises with {clock}. The chip's reset then lasts for
  // {cycles} cycles, in which accumulators are cleared. Until then nothing is valid or ready.
  (* ASYNC_REG = "TRUE" *) reg [2:0] requested;
  (* ASYNC_REG = "TRUE" *) reg [1:0] seen;
  reg [{high}:0] cleared;
  reg chip_reset;
  wire held = requested[2] | seen[1] | chip_reset;
  initial begin
    requested = 3'b111;
    seen = 2'b11;
    cleared = {width}'d{start};
    chip_reset = 1'b1;
  end
  always @(posedge {clock} or negedge {reset})
    if (!{reset}) requested <= 3'b111;
    else requested <= {{requested[1:0], 1'b0}};
  always @(posedge {clock}) begin
    seen <= {{seen[0], requested[2]}};
    chip_reset <= seen[1] | ~cleared[{high}];
    if (seen[1]) cleared <= {width}'d{start};
    else if (!cleared[{high}]) cleared <= cleared + {width}'d1;
  end
"""

_PARAMETER = """\
#(
  // Bytes from the beginning of a memory channel to that of the next: a multiple of {size},
  // which a channel takes.
  parameter [63:0] {stride} = 64'd{size}
) """


def top_verilog(config: Config, options: ExportOptions) -> str:
    """The module ``options.top``, around the chip."""
    found = interfaces(config, external=options.external)
    everything = ports(config, external=options.external)
    changed = [port for port in everything if port.output and port.inner and _is_changed(port)]
    tied = [port for port in everything if port.output and not port.inner]
    size = config.channel_bytes
    parameter = _PARAMETER.format(size=size, stride=STRIDE) if options.external else ""
    return "\n".join((
        f"module {options.top} {parameter}(",
        ",\n".join(_declarations(found)), ");", _reset_logic(config),
        *(_starts(config, size) if options.external else ()),
        *(f"  wire {_range(port.inner_width)}chip_{port.name};" for port in changed),
        f"  {options.prefix}{CHIP_MODULE} chip (",
        ",\n".join(_connections(everything)), "  );", "",
        *(f"  assign {port.name} = {_value(port)};" for port in changed),
        *(f"  assign {port.name} = {port.width}'d{port.constant};" for port in tied),
        "endmodule", ""))


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""


def _declarations(found: Sequence[Interface]) -> Iterator[str]:
    """The ports of all interfaces, with what Vivado reads there."""
    for interface in found:
        library, name = BUSES[interface.kind]
        for port in interface.ports:
            notes = [f'X_INTERFACE_INFO = "xilinx.com:{library}:{name}:1.0 {interface.name} '
                     f'{port.logical}"']
            if port is interface.ports[0]:
                values = "".join(f", {key} {value}" for key, value in interface.parameters.items())
                notes.append(
                    f'X_INTERFACE_PARAMETER = "XIL_INTERFACENAME {interface.name}{values}"')
            yield "".join(f"  (* {note} *)\n" for note in notes) + _declaration(port)
        if interface.kind == "reset" and any(one.manager for one in found):
            yield _declaration(BASE)


def _declaration(port: Port) -> str:
    return f"  {'output' if port.output else 'input '} wire {_range(port.width)}{port.name}"


def _reset_logic(config: Config) -> str:
    high = config.reset_cycles.bit_length()
    return _RESET_LOGIC.format(reset=RESET, clock=CLOCK, cycles=config.reset_cycles, high=high,
                               width=high + 1, start=(1 << high) - config.reset_cycles)


def _starts(config: Config, size: int) -> Iterator[str]:
    """A register for each channel: the byte address that its memory begins at."""
    for number in range(2 * config.cores):
        yield f"  reg [63:0] start_{number:02};"
    yield f"  always @(posedge {CLOCK}) begin"
    for number in range(2 * config.cores):
        yield (f"    start_{number:02} <= ({BASE.name} + {STRIDE} * 64'd{number}) "
               f"& ~64'd{size - 1};")
    yield "  end"


def _connections(everything: Sequence[Port]) -> Iterator[str]:
    yield f"    .clk({CLOCK})"
    yield "    .rst(chip_reset)"
    for port in everything:
        if port.inner:
            prefix = "chip_" if port.output and _is_changed(port) else ""
            yield f"    .{port.inner}({prefix}{port.name})"


def _is_handshake(port: Port) -> bool:
    return port.logical.endswith(("VALID", "READY"))


def _is_changed(port: Port) -> bool:
    """Whether an output is not just what the chip inside gives."""
    return _is_handshake(port) or port.inner_width != port.width


def _value(port: Port) -> str:
    if _is_handshake(port):
        return f"chip_{port.name} & ~held"
    start = port.name.removeprefix("m_axi_").partition("_")[0]
    return f"start_{start} | {{{port.width - port.inner_width}'d0, chip_{port.name}}}"
