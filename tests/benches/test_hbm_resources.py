# SPDX-License-Identifier: BSD-2-Clause
"""The rows on boards with HBM, without synthesis: what is added up, and which rows have bars."""

import pytest

from hypercast.benches import hbm_resources
from hypercast.host.eda.chip_area import ChipArea
from hypercast.host.eda.families import Area
from hypercast.rtl.config import PRESETS

CONFIG = PRESETS["tiny"]
AREA = ChipArea(cores=2, blocks={
    "router": Area(luts=300_000, shared_luts=2, ram_luts=100_000, flip_flops=7),
    "array.array": Area(dsps=8),
    "array.accumulators": Area(block_rams=2.5, ram_luts=2, scattered_memories=1),
    "weights": Area(ultra_rams=400),
    "wires of core": Area(luts=20, dsps=4),
}, control=Area(luts=3_680, ultra_rams=1))
WITH_PORT = ChipArea(cores=2, blocks={"host": Area(luts=130_368)}, control=Area(block_rams=504))


@pytest.fixture(scope="module")
def figures():
    """The figures by name, of a chip of two cores of two lanes."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(hbm_resources, "_CONFIG", CONFIG)
        monkeypatch.setattr(hbm_resources, "chip_area",
                            lambda config, family, *, bulk=False, **options: WITH_PORT if bulk
                            else AREA)
        monkeypatch.setattr(hbm_resources, "cached_areas",
                            lambda designs, family, progress: {"": Area(ultra_rams=5, ram_luts=1)})
        found = hbm_resources.run(lambda text: None)
    return {figure.name.removeprefix("XCVU37P"): figure for figure in found}


def test_shares(figures):
    shares = {name: figure for name, figure in figures.items()
              if "share" in name and "bulk" not in name}
    assert all(name.endswith(", share of 2 cores and the control unit")
               for name in shares)
    assert {name.split(",")[0]: (figure.value, figure.passed)
            for name, figure in shares.items()} == {
        ": LUT of 1303680": (803_720 / 1_303_680, True),
        ": DSP of 9024": (24 / 9_024, True),
        ": block RAM of 2016": (5 / 2_016, True),
        ": UltraRAM of 960": (801 / 960, False)}


def test_shares_with_a_bulk_port(figures):
    found = {name.split(": ")[1]: (figure.value, figure.bar)
             for name, figure in figures.items() if "bulk port" in name}
    assert found == {"LUT, share": (0.2, None), "DSP, share": (0, None),
                     "block RAM, share": (0.25, None), "UltraRAM, share": (0, None)}


def test_mapping(figures):
    found = [figures[name] for name in (
        ": DSPs of the systolic array per multiply-accumulate",
        ": accumulator memories' LUTs and memories in flip-flops")]
    assert [(figure.value, figure.bar, figure.relation) for figure in found] == [
        (2, 1, "="), (4, 0, "=")]


def test_every_block_is_listed(figures):
    assert figures[", router: LUT"].value == 399_998
    assert figures[", router: flip-flop"].value == 7
    listed = {name.split(":")[0].removeprefix(", ") for name in figures
              if name.startswith(", ") and "bulk port" not in name}
    assert listed == {*AREA.blocks, "control unit", "receiver.aggregator_0.accumulators"}
