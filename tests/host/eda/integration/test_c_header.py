"""The C header: what a C compiler takes its constants for."""

import re
import subprocess

import pytest

from hypercast.host.eda.integration.c_header import c_header
from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.registers import (
    COUNTERS,
    MAGIC,
    REGISTERS,
    Control,
    CoreSpace,
    Error,
    Space,
    Status,
)

CONFIG = PRESETS["tiny"].replace(memory_latency=20, memory_stalls=True)

_NAME = re.compile(r"^#define HYPERCAST_(\w+) ", re.MULTILINE)


@pytest.fixture(scope="module")
def constants(tmp_path_factory):
    """Every constant by name, as compiled."""
    folder = tmp_path_factory.mktemp("header")
    header = c_header(CONFIG)
    names = _NAME.findall(header)
    assert len(set(names)) == len(names)
    (folder / "hypercast.h").write_text(header)
    (folder / "print.c").write_text("\n".join((
        '#include "hypercast.h"', '#include "hypercast.h"', "#include <stdio.h>",
        "int main(void) {",
        *(f'printf("{name} %u\\n", HYPERCAST_{name});' for name in names), "return 0; }", "")))
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", "print",
                    "print.c"], cwd=folder, check=True)
    lines = subprocess.run([folder / "print"], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in map(str.split, lines.splitlines())}


def prefixed(prefix, pairs):
    return {f"{prefix}_{name.upper()}": int(value) for name, value in pairs}


@pytest.mark.parametrize("expected", [
    prefixed("REG", ((register.name, register.offset) for register in REGISTERS)),
    prefixed("STATUS", Status.__members__.items()),
    prefixed("CONTROL", Control.__members__.items()),
    prefixed("ERROR", Error.__members__.items()),
    prefixed("SPACE", Space.__members__.items()),
    prefixed("CORE_SPACE", CoreSpace.__members__.items()),
    prefixed("COUNTER", ((name, index) for index, name in enumerate(COUNTERS))),
    {"COUNTERS": len(COUNTERS)},
    prefixed("CONFIG", CONFIG.to_dict().items()),
    {"MAGIC_VALUE": MAGIC, "VERSION_VALUE": INTERFACE_VERSION, "CONFIG_HASH_VALUE": CONFIG.hash},
], ids=lambda expected: next(iter(expected)).partition("_")[0])
def test_constants(constants, expected):
    assert expected.items() <= constants.items()
