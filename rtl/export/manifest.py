# SPDX-License-Identifier: BSD-2-Clause
"""Describes a generated chip to machines: ports, registers, memories, configuration hash."""

from typing import Any

from hypercast.rtl.array.left_word import left_word
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.export.export_options import DEFAULT_OPTIONS, ExportOptions
from hypercast.rtl.export.interfaces import (
    BASE,
    MEMORY_ADDRESS_WIDTH,
    STRIDE,
    ports,
)
from hypercast.rtl.isa import INSTRUCTION_WIDTH, INSTRUCTION_WORDS
from hypercast.rtl.limits import CLASSES
from hypercast.rtl.registers import COUNTERS, REGISTERS, Space

__all__ = ["manifest", "memories"]


def memories(config: Config, *, external: bool = False) -> list[dict[str, Any]]:
    """Large memories: name, instances on the chip, words and bits per word, parities included.

    ``external`` as in ``Chip``: then channels are not among them.
    """
    row = config.lanes * config.accumulator_width
    cores = config.cores
    channels = [] if external else [
        {"name": "memory channel (features, gradients)", "instances": 2 * cores,
         "words": config.channel_words, "width": config.word_width + 1}]
    return [
        *channels,
        {"name": "weight bank", "instances": config.eject * cores,
         "words": config.weight_rows // config.eject, "width": config.data_width + 1},
        {"name": "array accumulators", "instances": 2 * cores, "words": config.accumulator_rows,
         "width": row},
        {"name": "aggregation accumulators", "instances": cores * config.eject,
         "words": 2 * config.strip_rows, "width": row},
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


def manifest(config: Config, options: ExportOptions = DEFAULT_OPTIONS) -> dict[str, Any]:
    """The manifest as a JSON-compatible dictionary."""
    large = memories(config, external=options.external)
    return {
        "top": options.top,
        "prefix": options.prefix,
        "interface_version": INTERFACE_VERSION,
        "configuration_hash": f"{config.hash:#010x}",
        "configuration": config.to_dict(),
        "memory": "axi" if options.external else "sram",
        "external_memory": _external(config) if options.external else None,
        "ports": [{"name": port.name, "direction": "output" if port.output else "input",
                   "width": port.width} for port in ports(config, external=options.external)],
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


def _external(config: Config) -> dict[str, Any]:
    """What the AXI4 managers reach."""
    size = config.channel_bytes
    return {"base_port": BASE.name, "address_width": MEMORY_ADDRESS_WIDTH,
            "data_width": config.word_width, "channel_bytes": size,
            "stride": {"parameter": STRIDE, "default": size},
            "bytes": 2 * config.cores * size,
            "managers": [{"name": f"m_axi_{number:02}", "core": number // 2,
                          "channel": ("features", "gradients")[number % 2],
                          "offset": number * size} for number in range(2 * config.cores)]}
