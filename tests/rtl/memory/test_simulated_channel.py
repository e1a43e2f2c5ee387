"""SimulatedChannel: an SramBank's contents, at the latency asked for, with stalls."""

import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.memory.simulated_channel import SimulatedChannel, memory_channel
from hypercast.rtl.memory.sram_bank import SramBank
from tests.rtl.memory.channel_bench import check_contents, time_bursts, time_mixture

SMALL = Config(lanes=2, element_width=8, channel_words=64)
LARGE = Config(lanes=16, element_width=16, channel_words=128)


@pytest.mark.parametrize("config", [SMALL, LARGE], ids=lambda config: f"{config.word_width}bit")
@pytest.mark.parametrize("latency", [1, 2, 30])
@pytest.mark.parametrize("stalls", [False, True])
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.3, 0.3)])
def test_contents(config, latency, stalls, idle, stall):
    config = config.replace(memory_latency=latency, memory_stalls=stalls)
    check_contents(SimulatedChannel(config, 7), config, latency, idle, stall)


@pytest.mark.parametrize("latency", [2, 3, 20, 64])
@pytest.mark.parametrize("lengths", [[1], [1] * 100, [16] * 10, [3, 16, 1, 1, 2, 9]])
def test_latency_and_rate(latency, lengths):
    """Bursts overlap: the latency is paid once."""
    dut = SimulatedChannel(SMALL.replace(memory_latency=latency), 1)
    assert time_bursts(dut, lengths) == (latency, latency + sum(lengths) - 1)


def test_one_access_per_cycle():
    dut = SimulatedChannel(SMALL.replace(memory_latency=50), 1)
    assert 160 <= time_mixture(dut, 80) <= 160 + 100


def test_stalls():
    """Requests and words stall in a quarter of the cycles each, and pauses come on top."""
    config = SMALL.replace(memory_stalls=True)
    words = 3000
    cycles = [time_bursts(SimulatedChannel(config, seed), [12] * (words // 12))[1]
              for seed in (1, 1, 0xDEADBEEF)]
    assert cycles[0] == cycles[1] != cycles[2]
    for total in cycles:
        assert 1.25 * words < total < 1.5 * words


def test_memory_channel():
    assert isinstance(memory_channel(SMALL, 1), SramBank)
    assert isinstance(memory_channel(SMALL.replace(memory_latency=2), 1), SimulatedChannel)
    assert isinstance(memory_channel(SMALL.replace(memory_stalls=True), 1), SimulatedChannel)


@pytest.mark.parametrize("seed", [0, -1, 1 << 32])
def test_seeds_out_of_range_are_refused(seed):
    with pytest.raises(ValueError, match=str(seed)):
        SimulatedChannel(SMALL, seed)
