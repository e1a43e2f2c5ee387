# SPDX-License-Identifier: BSD-2-Clause
"""The manifest says what the Verilog is: ports and their widths, and the large memories."""

import json
import re
from collections import Counter

import pytest

from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.export.chip_conversion import to_verilog
from hypercast.rtl.export.export_options import TOP_MODULE, ExportOptions
from hypercast.rtl.export.manifest import manifest, memories
from hypercast.rtl.registers import REGISTERS

#: Memories that are listed are larger than any that is not, as in a chip of useful size.
CONFIGS = {
    "narrow": PRESETS["tiny"].replace(
        accumulator_rows=512, operand_words=512, bypass_rows=512, weight_rows=512),
    "wide": Config(dimensions=2, lanes=4, planes=2, eject=2, element_width=8,
                   accumulator_rows=1024, weight_rows=2048, channel_words=4096, program_rows=64),
}

_MODULE = re.compile(r"^module (\S+?) ?\(.*?^endmodule", re.MULTILINE | re.DOTALL)
_PORT = re.compile(r"^  (input|output) +wire (?:\[(\d+):0\] )?(\w+),?$", re.MULTILINE)
_MEMORY = re.compile(r"^  reg \[(\d+):0\] \S+ +\[(\d+):0\];", re.MULTILINE)
_INSTANCE = re.compile(r"^  (\S+) +\S+ +\($", re.MULTILINE)


@pytest.fixture(scope="module", params=[
    "narrow", pytest.param("wide", marks=pytest.mark.slow)])
def chip(request):
    """A configuration, and the bodies of its modules by name."""
    config = CONFIGS[request.param]
    text = to_verilog(config)
    return config, {match[1].strip("\\"): match[0] for match in _MODULE.finditer(text)}


def instances(modules, name=TOP_MODULE):
    """How often each module occurs in ``name``, itself included."""
    count = Counter({name: 1})
    for child in _INSTANCE.findall(modules[name]):
        count += instances(modules, child.strip("\\"))
    return count


def test_ports(chip):
    config, modules = chip
    found = [{"name": name, "direction": direction, "width": int(high or 0) + 1}
             for direction, high, name in _PORT.findall(modules[TOP_MODULE])]
    described = manifest(config)["ports"]
    assert described == found


def test_ports_are_clock_reset_and_axi():
    names = {port["name"] for port in manifest(PRESETS["tiny"])["ports"]}
    assert names == {"aclk", "aresetn", *(f"s_axi_{name}" for name in AxiLite().members)}


def test_external_memory():
    """Where each channel lies, and that it is no memory of the chip."""
    config = PRESETS["test"]
    description = manifest(config, ExportOptions(external=True))
    external, size = description["external_memory"], config.channel_words * config.word_width // 8
    assert description["memory"] == "axi" and external["bytes"] == 2 * config.cores * size
    assert external["managers"][5] == {
        "name": "m_axi_05", "core": 2, "channel": "gradients", "offset": 5 * size}
    ports = {port["name"]: port["width"] for port in description["ports"]}
    assert ports[external["base_port"]] == external["address_width"] == 64
    assert ports["m_axi_05_wdata"] == external["data_width"] == config.word_width
    assert not any("channel" in memory["name"] for memory in description["memories"])
    assert manifest(config)["external_memory"] is None


def test_memories(chip):
    """As many memories of each size as listed, and none larger than the smallest of them."""
    config, modules = chip
    listed, found = Counter(), Counter()
    for item in memories(config):
        listed[item["words"], item["width"]] += item["instances"]
    for name, count in instances(modules).items():
        for high, last in _MEMORY.findall(modules[name]):
            found[int(last) + 1, int(high) + 1] += count
    smallest = min(words * width for words, width in listed)
    assert listed == {shape: count for shape, count in found.items()
                      if shape[0] * shape[1] >= smallest}


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_contents(config):
    description = manifest(config)
    assert json.loads(json.dumps(description)) == description
    assert description["top"] == TOP_MODULE
    assert int(description["configuration_hash"], 16) == config.hash
    assert Config(**description["configuration"]) == config
    assert len(description["registers"]) == len(REGISTERS)
    assert description["multipliers"] == config.cores * config.lanes ** 2
    assert description["memory_bits"] == sum(
        item["instances"] * item["words"] * item["width"] for item in description["memories"])
