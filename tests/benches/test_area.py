# SPDX-License-Identifier: BSD-2-Clause
"""``bench area`` and ``bench explore``: what is compared, and which rows have bars."""

from types import SimpleNamespace

from hypercast.benches import area, explore
from hypercast.host.eda.area_fit import FITTED
from hypercast.host.eda.chip_area import ChipArea
from hypercast.host.eda.exploration import Candidate, Exploration
from hypercast.host.eda.families import Area
from hypercast.rtl.config import PRESETS, Config

TINY = PRESETS["tiny"]


def _chip(**core):
    return ChipArea(cores=2, blocks={"router": Area(**core)}, control=Area(luts=100))


def _figures(module):
    return {figure.name: figure for figure in module.run(None, lambda text: None)}


def test_errors_of_estimates(monkeypatch):
    monkeypatch.setattr(area, "TESTED", {"ecp5": (TINY,)})
    monkeypatch.setattr(area, "CONFIGS", {})
    monkeypatch.setattr(area, "chip_area", lambda config, family, **options: _chip(
        luts=5_000, flip_flops=2_000, block_rams=20, dsps=2))
    monkeypatch.setattr(area, "estimated_area", lambda config, family, **options: _chip(
        luts=5_450, flip_flops=1_500, block_rams=20, dsps=4))
    figures = _figures(area)
    title = f"ECP5, chip 1 ({TINY.hash:#010x})"
    lut, register, ram = (figures[f"{title}: {kind}, error of the estimate"]
                          for kind in ("LUT", "flip-flop", "block RAM"))
    assert (round(lut.value, 3), lut.passed) == (round(900 / 10_100, 3), True)
    assert (register.value, register.passed, ram.value) == (0.25, False, 0)
    assert not any("DSP" in name for name in figures)  # too few to matter
    assert figures["ECP5: largest error of an estimate"].value == 0.25


def test_chips_are_others_than_those_fitted():
    assert sum(map(len, area.TESTED.values())) >= 8
    for family, configs in area.TESTED.items():
        assert not set(configs) & set(FITTED[family])


def test_routers(monkeypatch):
    config = Config(dimensions=1, lanes=2, planes=1)
    monkeypatch.setattr(area, "TESTED", {})
    monkeypatch.setattr(area, "CONFIGS", {"router": config})
    monkeypatch.setattr(area, "cached_areas", lambda designs, family, progress: dict.fromkeys(
        designs, Area(luts=3, ram_luts=4)))
    figures = _figures(area)
    assert len(figures) == 5 * 3
    assert figures["UltraScale+, router: distributed RAM"].value == 4
    assert all(figure.passed for figure in figures.values())


def test_exploration(monkeypatch):
    preset = PRESETS["vcu128"]
    monkeypatch.setattr(explore, "predict", lambda workload: SimpleNamespace(cycles=1_000))
    monkeypatch.setattr(explore, "StatisticSteps", lambda *shape, **options: lambda config: None)
    monkeypatch.setattr(explore, "explore", lambda target, steps, fixed, progress: Exploration(
        refusals=[], candidates=[Candidate(
            config=preset.replace(planes=2), cycles=800, seconds=1, orders=(),
            shares={"LUT": 0.81, "DSP": 0.79}, energy={"a": 0.002})]))
    figures = _figures(explore)
    ratios = [figure for name, figure in figures.items() if name.endswith("preset / best found")]
    assert [(figure.value, figure.passed) for figure in ratios] == [(1.25, True)] * 2
    shares = {name.split("share of ")[1]: figure.passed for name, figure in figures.items()
              if "share of" in name}
    assert shares == {"LUT, estimated": False, "DSP, estimated": True}
