"""The rows on boards with HBM, without synthesis: what is added up, and which rows have bars."""

import pytest

from hypercast.host.benches import hbm_resources
from hypercast.host.eda.synthesis import FAMILIES, Area
from hypercast.rtl.config import PRESETS

CONFIG = PRESETS["tiny"]
#: What blocks take, by module, family and whether parts are left out; all others nothing.
AREAS = {
    ("core.router", "UltraScale+", False): Area(
        luts=300_000, small_luts=4, ram_luts=100_000, flip_flops=7),
    ("core.array", "UltraScale+", True): Area(dsps=4, block_rams=1.5),
    ("core.array", "UltraScale+", False): Area(dsps=9_999),
    ("core.array.array", "7 series", False): Area(dsps=8),
    ("core.array.accumulators", "UltraScale+", False): Area(
        block_rams=1, ram_luts=2, scattered_memories=1),
    ("core.receiver.aggregator_0.accumulators", "UltraScale+", False): Area(block_rams=9_999),
    ("core.weights", "UltraScale+", False): Area(ultra_rams=400),
    ("core", "UltraScale+", True): Area(luts=20),
    ("control", "UltraScale+", False): Area(luts=3_680, ultra_rams=1),
}


@pytest.fixture(scope="module")
def figures():
    """The figures by name, of a chip of two cores of two lanes."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(hbm_resources, "_CONFIG", CONFIG)
        names = {id(family): name for name, family in FAMILIES.items()}
        monkeypatch.setattr(
            hbm_resources, "synthesise", lambda design, family, top, without: AREAS.get(
                (top, names[id(family)], bool(without)), Area()))
        found = hbm_resources.run(lambda text: None)
    return {figure.name.removeprefix("XCVU37P"): figure for figure in found}


def test_shares(figures):
    shares = {name: figure for name, figure in figures.items() if "share" in name}
    assert all(name.endswith(", share of 2 cores and the control unit")
               for name in shares)
    assert {name.split(",")[0]: (figure.value, figure.passed)
            for name, figure in shares.items()} == {
        ": LUT of 1303680": (803_720 / 1_303_680, True),
        ": DSP of 9024": (24 / 9_024, True),
        ": block RAM of 2016": (5 / 2_016, True),
        ": UltraRAM of 960": (801 / 960, False)}


def test_mapping(figures):
    found = [figures[name] for name in (
        ": DSPs of the systolic array per multiply-accumulate",
        ": accumulator memories' LUTs and memories in flip-flops")]
    assert [(figure.value, figure.bar, figure.relation) for figure in found] == [
        (2, 1, "="), (3, 0, "=")]


def test_every_block_is_listed(figures):
    assert figures[", router: LUT"].value == 399_998
    assert figures[", router: flip-flop"].value == 7
    listed = {name.split(":")[0].removeprefix(", ") for name in figures if name.startswith(", ")}
    array = {f"array.{part}" for part in (
        "array", "feed", "loader", "column_sums", "sender", "accumulators", "rows")}
    assert listed == array | {
        "router", "frames", "sender", "receiver", "vector", "weights", "rows", "host", "counters",
        "injection", "reads", "writes", "channel_0", "channel_1", "wires of the array",
        "wires of the core", "control unit", "receiver.aggregator_0.accumulators"}
