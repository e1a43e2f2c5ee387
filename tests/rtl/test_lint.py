# SPDX-License-Identifier: BSD-2-Clause
"""Verilator's lint finds nothing in the Verilog but what is waived, and each waiver is needed."""

import functools
import itertools
import os
import re
import subprocess
from fnmatch import fnmatch

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.chip_conversion import lint_waivers, to_verilog
from hypercast.rtl.export.export_options import TOP_MODULE, ExportOptions
from hypercast.sim.simulators import missing, verilator_root

pytestmark = pytest.mark.skipif(bool(missing("verilator")), reason=str(missing("verilator")))

CONFIGS = {
    "one core": PRESETS["tiny"].replace(dimensions=0, adam=False, memory_latency=20,
                                        memory_stalls=True),
    "two cores": PRESETS["tiny"].replace(element_width=8, planes=2, eject=2),
}
#: A waiver's rule, and the messages it is about.
_WAIVER = re.compile(r'lint_off -rule (\w+) -file "\*hypercast.v"(?: -match "(.+)")?')


@functools.cache
def verilog(config):
    """The chip; that of two cores has its memory outside."""
    return to_verilog(config, ExportOptions(external=config.cores > 1))


def lint(folder, config, waivers):
    """What Verilator says about a chip."""
    (folder / "hypercast.v").write_text(verilog(config))
    (folder / "hypercast.vlt").write_text(waivers)
    root = verilator_root()
    result = subprocess.run(
        [root / "bin" / "verilator_bin", "--lint-only", "-Wall", "--quiet-stats", "--top-module",
         TOP_MODULE, "hypercast.vlt", "hypercast.v"],
        cwd=folder, capture_output=True, text=True, env={**os.environ, "VERILATOR_ROOT": str(root)})
    return result.stderr


@pytest.mark.parametrize("config", [
    CONFIGS["one core"], pytest.param(CONFIGS["two cores"], marks=pytest.mark.slow)], ids=CONFIGS)
def test_lint(config, tmp_path):
    assert lint(tmp_path, config, lint_waivers()) == ""


def test_every_waiver_is_needed(tmp_path):
    lines = lint_waivers().splitlines()
    waivers = [line for line in lines if line.startswith("lint_off")]
    found = lint(tmp_path, CONFIGS["one core"], lines[0] + "\n").splitlines()
    for waiver in waivers:
        rule, pattern = _WAIVER.fullmatch(waiver).groups()
        about = f"%Warning-{rule}: hypercast.v:*: {pattern or '*'}"
        assert any(fnmatch(line, about) for line in found), waiver


def test_every_waiver_has_a_reason():
    lines = lint_waivers().splitlines()
    for before, line in itertools.pairwise(lines):
        assert not line.startswith("lint_off") or before.startswith("// "), line
