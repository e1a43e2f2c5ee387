# SPDX-License-Identifier: BSD-2-Clause
"""A board's own limits, bounds, and estimates with their error."""

import pytest

from hypercast.host.eda.board_fit import check_board
from hypercast.host.eda.target import Target
from hypercast.rtl.config import PRESETS, ConfigurationError


@pytest.fixture
def shares(monkeypatch):
    """What the estimate says of every chip."""
    found = {"LUT": 0.5}
    monkeypatch.setattr(Target, "shares", lambda self, config: found)
    return found


def checked(name, config):
    """What is noted of a configuration that is not refused."""
    notes = []
    check_board(name, config, notes.append)
    return notes


@pytest.mark.parametrize(("share", "notes"), [(1.0, 0), (1.01, 1), (1.15, 1)])
def test_an_estimate_may_be_too_high(shares, share, notes):
    shares["DSP"] = share
    found = checked("ulx3s", PRESETS["ulx3s"])
    assert len(found) == notes
    assert all("it may not fit" in note and "of DSP" in note and "LUT" not in note
               for note in found)


def test_an_estimate_that_is_much_too_high(shares):
    shares |= {"DSP": 1.16, "block RAM": 1.02}
    with pytest.raises(ConfigurationError, match=r"the XCK26 of the AMD Kria KV260: by an estimate "
                                                 r"with an error of 15% it takes 116% of DSP, 102%"
                                                 r" of block RAM; take .*explore --board kv260"):
        checked("kv260", PRESETS["kv260"])


def test_there_is_no_estimate_for_every_fpga(shares):
    shares["DSP"] = 9.0
    assert checked("de10-nano", PRESETS["de10-nano"]) == []


@pytest.mark.parametrize(("name", "config", "message"), [
    ("u50", PRESETS["vcu128"], "needs cores 8, not 16"),
    ("kv260", PRESETS["kv260"].replace(channel_words=1 << 23), "leaves 256 MiB"),
    ("ulx3s", PRESETS["cora"], "at least 17,641 needed")])
def test_limits_and_bounds_come_first(shares, name, config, message):
    shares["DSP"] = 9.0
    with pytest.raises(ConfigurationError, match=message):
        checked(name, config)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ecp5-evn", "kv260", "u50", "ulx3s", "vcu128"])
def test_a_boards_own_preset_fits_by_the_estimate(name):
    from hypercast.host.eda.target import target_of
    assert checked(name, target_of(name).config) == []
