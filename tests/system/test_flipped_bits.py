"""Bits that flip in memories stop a training, or make no difference; they never change a result.
"""

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.comparison import compare
from hypercast.host.runtime.devices import ChipDevice, ReferenceDevice
from hypercast.host.runtime.driver import DeviceError
from hypercast.host.runtime.transport import TransportError
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import NARROW, WIDE, GraphTraining, random_graph


def training(config):
    return GraphTraining(graph=random_graph(30, 90, features=9, classes=3, seed=1), config=config,
                         hidden=(5,), dropout=0.5, recipe={"weight_decays": (0.0,)})


@pytest.fixture(scope="module")
def expected():
    """What the reference ends with, by configuration."""
    found = {}
    for config in (NARROW, WIDE):
        device = ReferenceDevice(training(config).model())
        for _ in range(2):
            device.train_step()
        found[config] = device.snapshot()
    return found


def flipped(config, memory, word, bit):
    """Snapshot after two steps, with one bit flipped after the first; None if it was noticed."""
    model = training(config).model()
    transport = CxxrtlTransport(config)
    device = ChipDevice(transport, compile_job(model, config), model)
    try:
        device.train_step()
        words, _ = transport.contents()[memory]
        words[word, bit // 32] ^= np.uint32(1 << bit % 32)
        device.train_step()
        return device.snapshot()
    except (DeviceError, TransportError):
        return None
    finally:
        device.close()


def protected(config):
    """Every memory of a chip, with its parities: name to depth and bits of a word."""
    transport = CxxrtlTransport(config)
    found = {name: (len(words), width) for name, (words, width) in transport.contents().items()
             if name.endswith(" with_parity")}
    transport.close()
    return found


def check(config, expected, trials, seed):
    rng = np.random.default_rng(seed)
    memories = protected(config)
    names = sorted(memories)
    noticed = 0
    for _ in range(trials):
        name = names[rng.integers(len(names))]
        depth, width = memories[name]
        place = name, int(rng.integers(depth)), int(rng.integers(width))
        found = flipped(config, *place)
        if found is None:
            noticed += 1
        else:
            words = compare(expected[config], found, config.lanes)
            assert words.equal == words.words, f"{place}: {words}"
    return noticed


def test_all_memories_are_there():
    """Every core has two channels, weights, operands, what is kept and row counts; one program."""
    names = protected(WIDE)
    assert len(names) == 2 + WIDE.cores * (2 + WIDE.eject + 5)


@pytest.mark.parametrize("config", [
    pytest.param(NARROW, id="narrow", marks=pytest.mark.slow), pytest.param(WIDE, id="wide")])
def test_random_flips(config, expected):
    assert check(config, expected, 25, seed=0) > 0


@pytest.mark.slow
@pytest.mark.parametrize("config", [NARROW, WIDE], ids=["narrow", "wide"])
def test_many_random_flips(config, expected):
    assert check(config, expected, 500, seed=1) > 50
