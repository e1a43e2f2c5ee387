"""SramBank: reads what was written, whatever stalls; latency and rate as promised."""

import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.memory.sram_bank import SramBank
from tests.rtl.memory.channel_bench import check_contents, time_bursts, time_mixture

CONFIGS = [
    Config(lanes=2, element_width=8, channel_words=64),
    Config(lanes=16, element_width=16, channel_words=128),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.word_width}bit")
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.6, 0.0), (0.0, 0.6), (0.5, 0.3)])
def test_contents(config, idle, stall):
    check_contents(SramBank(config), config, 1, idle, stall)


@pytest.mark.parametrize("lengths", [[1], [16], [1] * 20, [3, 16, 1, 1, 2, 9]])
def test_latency_and_rate(lengths):
    assert time_bursts(SramBank(CONFIGS[0]), lengths) == (1, sum(lengths))


def test_one_access_per_cycle():
    assert 160 <= time_mixture(SramBank(CONFIGS[0]), 80) <= 163
