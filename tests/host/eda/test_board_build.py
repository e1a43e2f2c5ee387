# SPDX-License-Identifier: BSD-2-Clause
"""What is made of the reports of Yosys and nextpnr, and of a tool that fails."""

import json

import pytest

from hypercast.host.eda import board_build, place_and_route
from hypercast.host.eda.board_build import build_bitstream
from hypercast.host.eda.synthesis import Area
from hypercast.sim import build_step
from hypercast.sim.build_step import BuildError

#: Two cores, each with a block; ``$lut`` and the like are gone after synthesis.
AREA = {"modules": {
    "\\top": {"num_cells_by_type": {"core": 2, "LUT4": 1, "EHXPLLL": 1, "TRELLIS_IO": 3}},
    "\\core": {"num_cells_by_type": {"core.block": 1, "TRELLIS_FF": 5, "DP16KD": 1}},
    "\\core.block": {"num_cells_by_type": {"CCU2C": 2, "MULT18X18D": 1, "TRELLIS_DPR16X4": 1}}}}


def step(kind, delay, **ends):
    return {"type": kind, "delay": delay, **ends}


def timing():
    """A fast clock and a slow one, each with its path."""
    cells = {"used": 3, "available": 4}
    path = [step("clk-to-q", 0.5), step("routing", 2.5, net="head"), step("logic", 1.0),
            step("routing", 3.5, net="grant"), step("logic", 1.5),
            step("setup", 1.0, to={"cell": "credit", "port": "D"})]
    return {
        "fmax": {"fast": {"achieved": 200.0, "constraint": 12.0},
                 "slow": {"achieved": 100.0, "constraint": 50.0}},
        "critical_paths": [
            {"from": "posedge fast", "to": "posedge fast", "path": []},
            {"from": "<async>", "to": "posedge slow", "path": []},
            {"from": "posedge slow", "to": "posedge slow", "path": path}],
        "utilization": dict.fromkeys(
            ("TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D", "DP16KD"), cells)}


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A project whose script finds its tools and does nothing; their reports are there."""
    monkeypatch.setattr(board_build, "tools", lambda: {"YOSYS": "found"})
    (tmp_path / "build_hypercast.sh").write_text('echo "$YOSYS"; test "$YOSYS" = found\n')
    (tmp_path / "area.json").write_text(json.dumps(AREA))
    (tmp_path / "timing.json").write_text(json.dumps(timing()))
    return tmp_path


def test_report(folder):
    report = build_bitstream(folder)
    clock = report.clock
    assert (clock.asked, clock.reached, clock.met) == (50.0, 100.0, True)
    assert (clock.begin, clock.end, clock.cells, clock.wires) == ("head", "credit", 2, 0.6)
    assert report.used == {"LUT": 3, "flip-flop": 3, "DSP": 3, "block RAM": 3}
    assert report.available["LUT"] == 4
    assert report.seconds > 0 and report.memory > 0
    assert report.blocks == {
        "core.block": Area(luts=4, carry_bits=4, dsps=1, ram_luts=6),
        "core": Area(luts=4, carry_bits=4, dsps=1, ram_luts=6, flip_flops=5, block_rams=1),
        "top": Area(luts=9, carry_bits=8, dsps=2, ram_luts=12, flip_flops=10, block_rams=2)}
    assert json.loads(json.dumps(report.to_dict()))["blocks"]["core"]["flip_flops"] == 5


def test_a_tool_fails(folder):
    (folder / "build_hypercast.sh").write_text("echo no room; exit 3\n")
    with pytest.raises(BuildError, match=r"exit status 3 \(log: .*hypercast\.log\):\nno room"):
        build_bitstream(folder)


def test_a_cell_without_area(folder):
    (folder / "area.json").write_text(json.dumps(
        {"modules": {"\\top": {"num_cells_by_type": {"DCCA": 1}}}}))
    with pytest.raises(RuntimeError, match="area is not known: DCCA; add them to hypercast"):
        build_bitstream(folder)


@pytest.fixture
def rounds(folder, monkeypatch):
    """nextpnr stands still with the first seeds, until killed; its rounds are in its log."""
    tool = folder / "router"
    tool.write_text("""#!/bin/sh
echo "$2" >> seeds
for round in 1 2 3 4 5 6 7 8 9; do
    echo "Info:     iter=$round wires=12 overused=3 overuse=3 archfail=NA" >> hypercast.tim
done
[ "$1 $2 $3" = "--seed 3 --timing-allow-fail" ] || sleep 1000
""")
    tool.chmod(0o755)
    monkeypatch.setattr(board_build, "tools", lambda: {"NEXTPNR_ECP5": str(tool)})
    monkeypatch.setattr(build_step, "_INTERVAL", 0.05)
    (folder / "build_hypercast.sh").write_text('exec "$NEXTPNR_ECP5" --quiet\n')
    return folder


def test_another_seed_where_routing_stands_still(rounds, monkeypatch):
    monkeypatch.setattr(place_and_route, "_PATIENCE", 5)
    assert build_bitstream(rounds).seed == 3
    assert (rounds / "seeds").read_text().split() == ["1", "2", "3"]


def test_no_seed_helps(rounds, monkeypatch):
    monkeypatch.setattr(place_and_route, "_PATIENCE", 5)
    monkeypatch.setattr(board_build, "_ATTEMPTS", 2)
    with pytest.raises(BuildError, match=r"no placement of 2 could be routed: .* after 9 rounds of "
                                         r"routing, 3 wires or more are used twice since round 1"):
        build_bitstream(rounds)


@pytest.fixture
def clocks(folder, monkeypatch):
    """A function that has placements reach clocks, in MHz of 100, one with each seed."""
    def reach(*megahertz):
        tool = folder / "placer"
        tool.write_text("""#!/bin/sh
echo "$2" >> seeds
cp "timing.$2" timing.json
echo "$2" > hypercast.bit
""")
        tool.chmod(0o755)
        for seed, clock in enumerate(megahertz, 1):
            found = timing()
            found["fmax"]["slow"] = {"achieved": clock, "constraint": 100.0}
            (folder / f"timing.{seed}").write_text(json.dumps(found))
        monkeypatch.setattr(board_build, "tools", lambda: {"NEXTPNR_ECP5": str(tool)})
        (folder / "build_hypercast.sh").write_text('exec "$NEXTPNR_ECP5" --quiet\n')
        report = build_bitstream(folder)
        return report, (folder / "seeds").read_text().split(), \
            (folder / "hypercast.bit").read_text().strip()
    return reach


@pytest.mark.parametrize(("megahertz", "tried", "chosen"), [
    ((101.0,), 1, 1),
    ((95.0, 100.0), 2, 2),  # just as fast as asked
    ((95.0, 97.0, 96.0, 94.0), 4, 2),  # none is
    ((89.0,), 1, 1),  # another one would not help
    ((97.0, 80.0), 2, 1),
    ((90.0, 98.0, 99.0, 120.0), 4, 4)])
def test_another_seed_where_the_clock_is_missed(clocks, megahertz, tried, chosen):
    report, seeds, bitstream = clocks(*megahertz)
    assert seeds == [str(seed) for seed in range(1, tried + 1)]
    assert report.seed == chosen and bitstream == str(chosen)
    assert report.clock.reached == megahertz[chosen - 1]
    assert report.clock.met == (report.clock.reached >= 100.0)
