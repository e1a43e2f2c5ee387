# SPDX-License-Identifier: BSD-2-Clause
"""The C header: what a C compiler takes its constants for."""

import re
import subprocess

import pytest

from hypercast.host.eda.integration.c_header import c_header
from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.export.export_options import ExportOptions
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


def test_two_headers(tmp_path):
    """What is of one configuration has the name of its top; either alone will do for a driver."""
    other = CONFIG.replace(lanes=4)
    for config, prefix in ((CONFIG, "left_"), (other, "right_")):
        options = ExportOptions(prefix=prefix, external=True)
        (tmp_path / f"{options.top}.h").write_text(c_header(config, options))
    (tmp_path / "both.c").write_text("""
#include "left_hypercast.h"
#include "right_hypercast.h"
#define SAME(name, value) _Static_assert(name == value, "wrong")
""" + "".join(f"SAME({name}, {value}u);\n" for name, value in (
        ("LEFT_HYPERCAST_CONFIG_LANES", CONFIG.lanes), ("RIGHT_HYPERCAST_CONFIG_LANES", 4),
        ("LEFT_HYPERCAST_CONFIG_HASH_VALUE", CONFIG.hash),
        ("RIGHT_HYPERCAST_CONFIG_HASH_VALUE", other.hash),
        ("HYPERCAST_CONFIG_HASH_VALUE", CONFIG.hash), ("HYPERCAST_REG_CORE", "HYPERCAST_REG_CORE"),
        ("RIGHT_HYPERCAST_CONFIG_EXTERNAL_MEMORY", 1),
        ("RIGHT_HYPERCAST_CONFIG_CHANNELS", 2 * other.cores),
        ("RIGHT_HYPERCAST_CONFIG_CHANNEL_BYTES", other.channel_words * other.word_width // 8),
    )).replace("HYPERCAST_REG_COREu", "HYPERCAST_REG_CORE"))
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "both.c"],
                   cwd=tmp_path, check=True)


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


def compile_together(folder, *headers, flags=("-Werror",)):
    """Names and texts of headers, in the order in which a file includes them."""
    for name, text in headers:
        (folder / name).write_text(text)
    (folder / "all.c").write_text("".join(f'#include "{name}"\n' for name, _ in headers) + (
        f'_Static_assert(HYPERCAST_CONFIG_LANES == {CONFIG.lanes}, "another chip");\n'))
    return subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", *flags, "-c",
                           "all.c"], cwd=folder, capture_output=True, text=True)


def test_a_chip_with_the_default_name_beside_another_in_any_order(tmp_path):
    other = "fft.h", c_header(CONFIG.replace(lanes=4), ExportOptions(top_name="fft"))
    own = "hypercast.h", c_header(CONFIG)
    for headers in ((own, other), (other, own), (other, own, other, own)):
        found = compile_together(tmp_path, *headers)
        assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(("config", "external"), [(CONFIG.replace(lanes=4), False), (CONFIG, True)])
def test_names_that_differ_in_capitals_only(tmp_path, config, external):
    own = "a.h", c_header(CONFIG, ExportOptions(top_name="fft"))
    other = "b.h", c_header(config, ExportOptions(top_name="FFT", external=external))
    assert compile_together(tmp_path, own, own).returncode == 0
    found = compile_together(tmp_path, own, other)
    assert found.returncode and "names that begin with FFT_: give their top modules" in found.stderr
