"""Describes a generated chip to machines: ports, registers, memories, configuration hash."""

from typing import Any

from amaranth.hdl import Shape
from amaranth.lib.wiring import Out

from hypercast.rtl.array.left_word import left_word
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.isa import INSTRUCTION_WIDTH, INSTRUCTION_WORDS
from hypercast.rtl.limits import CLASSES
from hypercast.rtl.registers import COUNTERS, REGISTERS, Space

__all__ = ["manifest", "memories"]


def memories(config: Config) -> list[dict[str, Any]]:
    """Large memories: name, instances on the chip, words and bits per word, parities included."""
    row = config.lanes * config.accumulator_width
    cores = config.cores
    return [
        {"name": "memory channel (features, gradients)", "instances": 2 * cores,
         "words": config.channel_words, "width": config.word_width + 1},
        {"name": "weight bank", "instances": config.eject * cores,
         "words": config.weight_rows // config.eject, "width": config.data_width + 1},
        {"name": "array accumulators", "instances": 2 * cores, "words": config.accumulator_rows,
         "width": row},
        {"name": "aggregation accumulators", "instances": cores * config.eject,
         "words": 2 * config.accumulator_rows, "width": row},
        {"name": "operand buffer", "instances": cores, "words": config.operand_words,
         "width": left_word(config).size + 1},
        {"name": "gradient panel", "instances": cores, "words": config.accumulator_rows,
         "width": config.data_width + 1},
        {"name": "right operands", "instances": cores, "words": config.bypass_rows,
         "width": config.data_width + 1},
        {"name": "rows to be sent", "instances": cores, "words": config.bypass_rows,
         "width": config.data_width + 1},
        {"name": "logits", "instances": cores, "words": CLASSES, "width": config.word_width},
        {"name": "program", "instances": 1, "words": config.program_rows,
         "width": INSTRUCTION_WIDTH + INSTRUCTION_WORDS},
    ]


def manifest(config: Config) -> dict[str, Any]:
    """The manifest as a JSON-compatible dictionary."""
    ports = [{"name": "clk", "direction": "input", "width": 1},
             {"name": "rst", "direction": "input", "width": 1}]
    for name, member in AxiLite().members.items():  # seen from the manager
        ports.append({"name": f"axi__{name}",
                      "direction": "input" if member.flow == Out else "output",
                      "width": Shape.cast(member.shape).width})
    large = memories(config)
    return {
        "top": "hypercast",
        "interface_version": INTERFACE_VERSION,
        "configuration_hash": f"{config.hash:#010x}",
        "configuration": config.to_dict(),
        "ports": ports,
        "registers": [{"name": register.name, "offset": register.offset,
                       "access": register.access, "description": register.description,
                       "fields": [{"name": field.name, "low": field.low, "width": field.width,
                                   "description": field.description}
                                  for field in register.fields]}
                      for register in REGISTERS],
        "spaces": {space.name.lower(): int(space) for space in Space},
        "counters": [{"name": name, "description": counter.description}
                     for name, counter in COUNTERS.items()],
        "memories": large,
        "memory_bits": sum(item["instances"] * item["words"] * item["width"] for item in large),
        "multipliers": config.cores * config.lanes**2,
    }
