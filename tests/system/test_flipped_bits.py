# SPDX-License-Identifier: BSD-2-Clause
"""Bits that flip in memories: in protected ones they stop a training, or make no difference."""

import re

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.chip_reset import reset_chip
from hypercast.host.runtime.comparison import compare
from hypercast.host.runtime.device_errors import DeviceError, DeviceTimeoutError
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.limits import group_size
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import NARROW, WIDE, GraphTraining, random_graph

#: Kinds of memories that may hold something between programs, and are not protected: their places
#: begin or end with these.
KEPT = ("accumulators memory", "accumulators buffer_ memory", "tile_sums memory", "sender buffer",
        "edges words", "fetch requests origins", "fetch requests rests")


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


class Chip:
    """A chip in which bits flip."""

    def __init__(self, config):
        self.config = config
        self._transport = CxxrtlTransport(config)
        self._model = training(config).model()
        self._job = compile_job(self._model, config)
        contents = self._transport.contents()
        #: Kind of memory (its name without numbers) to names of all of that kind.
        self.kinds = {}
        for name in sorted(contents):
            kind = re.sub(r"\d+", "", name).split(" ", 1)[-1]
            self.kinds.setdefault(kind, []).append(name)
        self.sizes = {name: (len(words), width) for name, (words, width) in contents.items()}

    def flipped(self, memory, word, bit):
        """Snapshot after two steps, with one bit flipped after the first; None if it was noticed.
        """
        words, _ = self._transport.contents()[memory]

        def flip():
            words[word, bit // 32] ^= np.uint32(1 << bit % 32)
        reset_chip(self._transport)
        device = AloneChip(self._transport, self._job, self._model)
        device.train_step()
        flip()
        try:
            device.train_step()
            return device.snapshot()
        except (DeviceError, TransportError) as error:
            assert not isinstance(error, DeviceTimeoutError), error
            return None
        finally:
            if "table" in memory:
                flip()  # nothing else would mend it

    def close(self):
        self._transport.close()


@pytest.fixture
def chip(request):
    chip = Chip(request.param)
    yield chip
    chip.close()


def check(chip, kind, expected, rng):
    """Flip a bit of a memory of a kind; whether that was noticed."""
    names = chip.kinds[kind]
    name = names[rng.integers(len(names))]
    depth, width = chip.sizes[name]
    place = name, int(rng.integers(depth)), int(rng.integers(width))
    found = chip.flipped(*place)
    if found is None:
        return True
    words = compare(expected[chip.config], found, chip.config.lanes)
    assert kind.endswith(KEPT) or words.equal == words.words, f"{place}: {words}"
    return False


def test_all_protected_memories_are_there():
    """Every core has two channels, weights, operands, what is kept, row counts and tables; there
    are one program and one exponent file.
    """
    chip = Chip(WIDE)
    names = [name for name in chip.sizes if name.endswith(" with_parity")]
    tables = 3 * group_size(WIDE) + 1
    assert len(names) == 2 + WIDE.cores * (2 + WIDE.eject + 5 + tables)
    chip.close()


@pytest.mark.parametrize("chip", [
    pytest.param(NARROW, id="narrow", marks=pytest.mark.slow), pytest.param(WIDE, id="wide")],
    indirect=True)
def test_a_flip_in_every_kind_of_memory(chip, expected):
    rng = np.random.default_rng(0)
    noticed = [kind for kind in chip.kinds if check(chip, kind, expected, rng)]
    assert any("table" in kind for kind in noticed), noticed
    assert all(kind.endswith(("with_parity", *KEPT)) for kind in noticed), noticed


@pytest.mark.slow
@pytest.mark.parametrize("chip", [NARROW, WIDE], ids=["narrow", "wide"], indirect=True)
def test_many_random_flips(chip, expected):
    rng = np.random.default_rng(1)
    kinds = sorted(chip.kinds)
    assert sum(check(chip, kinds[rng.integers(len(kinds))], expected, rng)
               for _ in range(500)) > 50
