# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast bench`` where there is no checkout, and in one."""

import runpy
import sys

import pytest
from click.testing import CliRunner

from hypercast.benches.bench_command import bench as of_the_checkout
from hypercast.host.cli import main
from hypercast.host.commands import bench


@pytest.mark.parametrize("arguments", [
    [], ["shapes"], ["shapes", "--seed", "3"], ["--json"], ["nosuch"]])
def test_without_a_checkout_one_line_says_where_benches_are(arguments, monkeypatch):
    monkeypatch.setitem(sys.modules, "hypercast.benches", None)  # as if it were not there
    absent = runpy.run_path(bench.__file__)["bench"]
    monkeypatch.setitem(main.commands, absent.name, absent)
    result = CliRunner().invoke(main, ["bench", *arguments])
    [line] = result.stderr.splitlines()
    assert result.exit_code == 1 and result.stdout == ""
    assert line.startswith("Error: the benches are in the project's checkout")
    assert line.endswith("make setup there, then .venv/bin/hypercast bench")


def test_in_a_checkout_it_is_that_of_the_benches():
    assert bench.bench is of_the_checkout
