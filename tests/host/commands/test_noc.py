# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast noc``: what it prints, what it refuses."""

import json

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.noc.patterns import PATTERNS

SMALL = ["--dimensions", "2", "--planes", "2", "--depth", "2"]


def run(*arguments, status=0):
    result = CliRunner().invoke(main, ["noc", *arguments])
    assert result.exit_code == status, result.output
    return result


def test_table():
    text = run("broadcast", *SMALL, "--messages", "50").stdout
    for part in ("broadcast, 4 cores", "600", "bound", "ejection of core 0", "p99", "efficiency"):
        assert part in text


@pytest.mark.parametrize("arguments", [
    [], ["--rate", "0.2"], ["--stalls", "0.5"], ["--stalls", "0.95"]])
def test_json(arguments):
    values = json.loads(run("unicast", *SMALL, "--json", *arguments).stdout)
    assert values["deliveries"] == values["messages"] == 1600
    assert values["bound"] <= values["cycles"] and 0 < values["efficiency"] <= 1
    assert sum(map(sum, values["link_flits"])) >= 1600
    latencies = list(values["delivery_latency"].values())
    assert latencies == sorted(latencies) and latencies[0] >= 4


def test_stalls_and_rate_have_their_effect():
    at_once, stalled, seldom = (
        json.loads(run("unicast", *SMALL, "--json", *arguments).stdout)
        for arguments in ([], ["--stalls", "0.5"], ["--rate", "0.1"]))
    assert stalled["cycles"] > 1.5 * at_once["cycles"]
    assert seldom["cycles"] > 5 * at_once["cycles"]
    assert seldom["delivery_latency"]["p99"] < at_once["delivery_latency"]["p50"]
    assert seldom["peak_queue"] < at_once["peak_queue"] == 400


def test_graph_and_panels():
    one, three = (json.loads(run("--graph", "karate", *SMALL, "--panels", panels, "--json").stdout)
                  for panels in ("1", "3"))
    assert one["traffic"] == "karate" and 34 <= one["deliveries"] <= 34 * 4
    assert three["deliveries"] == 3 * one["deliveries"]


def test_plot(tmp_path):
    path = tmp_path / "network.png"
    run("neighbour", *SMALL, "--messages", "40", "--plot", str(path))
    assert path.stat().st_size > 10_000


@pytest.mark.parametrize(("arguments", "message"), [
    (["transpose", "--dimensions", "3"], "transpose needs an even number of dimensions, not 3"),
    (["--dimensions", "7"], "dimensions must be 0 to 6, not 7"),
    (["--eject", "4", "--planes", "2"], "eject must be at most planes (2)"),
    (["--rate", "2"], "rate must be 1e-06 to 1 messages per core and cycle, not 2.0"),
    (["--graph", "nosuch"], "nosuch is neither a bundled data set"),
])
def test_refusals(arguments, message):
    assert message in run(*arguments, status=2).stderr


def test_help_names_all_patterns():
    text = run("--help").stdout
    assert all(name in text for name in PATTERNS)


@pytest.mark.parametrize(("arguments", "message"), [
    (["broadcast", "--graph", "karate"], "leave out PATTERN"),
    (["--graph", "karate", "--messages", "5"], "leave out PATTERN and"),
    (["broadcast", "--panels", "2"], "--panels is about"),
])
def test_options_that_would_mean_nothing(arguments, message):
    assert message in run(*arguments, status=2).output


def test_waveforms(tmp_path):
    file = tmp_path / "n.vcd"
    run("broadcast", *SMALL, "--messages", "2", "--vcd", str(file), "--wave-core", "3",
        "--wave-cycles", "0:20")
    assert "router_3" in file.read_text() and file.with_suffix(".gtkw").exists()
    pytest.importorskip("pylibfst")
    run("broadcast", *SMALL, "--messages", "2", "--fst", str(tmp_path / "n.fst"))
    assert {path.name for path in tmp_path.iterdir()} == {"n.vcd", "n.gtkw", "n.sucl", "n.fst"}


def test_waveforms_of_a_core_that_is_not_there(tmp_path):
    result = run("broadcast", *SMALL, "--vcd", str(tmp_path / "n.vcd"), "--wave-core", "4",
                 status=2)
    assert "there is no core 4" in result.output and not list(tmp_path.iterdir())
