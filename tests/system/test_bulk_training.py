# SPDX-License-Identifier: BSD-2-Clause
"""Trainings on a simulated chip whose memories are loaded and read back through its bulk port."""

import errno
import os
from types import SimpleNamespace

import numpy as np
import pytest

from hypercast.benches.trainings import compare_training
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime import xdma_channels, xdma_transport
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.chip_reset import reset_chip
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.image import Stripes
from hypercast.host.runtime.memory_access import MemoryAccess
from hypercast.host.runtime.xdma_transport import open_xdma
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import Config
from hypercast.rtl.registers import (
    Control,
    Space,
    Status,
    bulk_address,
    register,
    striped_address,
)
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import SLOW_MEMORY, WIDE, GraphTraining, random_graph

#: Words of two beats.
TWO_BEATS = Config(dimensions=1, lanes=16, planes=1, accumulator_rows=64, channel_words=4096,
                   operand_words=256, program_rows=512, read_buffer=8, weight_rows=512)
BOTH = pytest.mark.parametrize("config", [
    pytest.param(WIDE, id="two words a beat"),
    pytest.param(TWO_BEATS, id="two beats a word", marks=pytest.mark.slow)])


class Counting(CxxrtlTransport):
    """A chip that counts what it is asked, and that may show the window only."""

    def __init__(self, config, *, bulk=True):
        super().__init__(config, bulk=True)
        self._shown = bulk
        self.accesses = 0

    @property
    def bulk(self):
        return self._shown

    def read(self, address):
        self.accesses += 1
        return super().read(address)

    def write(self, address, value):
        self.accesses += 1
        super().write(address, value)

    def write_bulk(self, address, data):
        self.accesses += 1
        super().write_bulk(address, data)

    def read_bulk(self, address, size):
        self.accesses += 1
        return super().read_bulk(address, size)


def training(config):
    return GraphTraining(graph=random_graph(40, 120, features=9), config=config, hidden=(5,))


@BOTH
def test_a_training_equals_the_reference_and_loads_faster(config):
    """And what each way takes to load is printed."""
    took = {}
    for bulk in (True, False):
        def open_chip(model, bulk=bulk):
            chip, job = Counting(config, bulk=bulk), compile_job(model, config)
            begun = chip.cycle
            device = AloneChip(chip, job, model)
            took[bulk] = chip.cycle - begun, chip.accesses
            return device
        words, _, _ = compare_training(training(config), open_chip)
        assert words.words and words.equal == words.words, str(words)
    assert took[True] < took[False] and took[True][1] < took[False][1]
    for bulk, (cycles, accesses) in took.items():
        print(f"loading by the {'bulk port' if bulk else 'window'}: "
              f"{cycles} cycles, {accesses} accesses")


@BOTH
def test_memories_take_fewer_cycles(config):
    """What a memory word takes is printed."""
    count = config.channel_words // 4
    words = np.random.default_rng(0).integers(
        1 << 32, size=(count, config.chunks), dtype=np.uint32)
    took = {}
    for way in ("bulk port", "window"):
        chip = Counting(config, bulk=way == "bulk port")
        driver, begun = Driver(chip, config), chip.cycle
        driver.write_words(0, Space.FEATURES, 0, words)
        written = chip.cycle
        assert np.array_equal(driver.read_words(0, Space.FEATURES, 0, count), words)
        took[way] = written - begun, chip.cycle - written
        chip.close()
        print(f"{config.word_width} bits by the {way}: {took[way][0] / count:.2f} cycles to write "
              f"a word, {took[way][1] / count:.2f} to read one")
    assert all(bulk < window for bulk, window in zip(*took.values(), strict=True))


class Streaming(CxxrtlTransport):
    """A chip whose host writes to the ends of all channels whenever it would wait for a program.

    Its bursts go to all cores in turn, or to one.
    """

    def __init__(self, config, free, *, striped):
        super().__init__(config, bulk=True)
        self._config, self._rng = config, np.random.default_rng(0)
        self.written, self._free, self._striped = {}, free, striped
        self.cycles = self.beats = 0

    def wait(self, cycles):
        config, begun = self._config, self.cycle
        word = config.word_width // 8
        end, size = config.channel_words * word, self._free * word
        while self.cycle - begun < cycles and \
                Status(self.read(register("status"))) & Status.RUNNING:
            core = int(self._rng.integers(config.cores))
            space = Space(int(self._rng.choice([Space.FEATURES, Space.GRADIENTS])))
            cores = range(config.cores) if self._striped else [core]
            data = self._rng.bytes(size * len(cores))
            before = self.cycle
            if self._striped:
                self.write_bulk(striped_address(space, (end - size) * config.cores), data)
            else:
                self.write_bulk(bulk_address(core, space, end - size), data)
            if Status(self.read(register("status"))) & Status.RUNNING:
                self.cycles += self.cycle - before
                self.beats += len(data) // 16
            for place, one in enumerate(cores):
                self.written[one, space] = np.frombuffer(data, np.uint8).reshape(
                    self._free, len(cores), word)[:, place].tobytes()


@pytest.mark.parametrize("config", [
    pytest.param(WIDE, id="two words a beat"),
    pytest.param(TWO_BEATS, id="two beats a word", marks=pytest.mark.slow),
    pytest.param(SLOW_MEMORY, id="slow memory", marks=pytest.mark.slow)])
@pytest.mark.parametrize("striped", [True, False], ids=["striped", "core by core"])
def test_memory_that_a_program_does_not_use_is_written_meanwhile(config, striped):
    """Results are the reference's, and what was written is there; what it took is printed."""
    free, cycles, chips = 256, {}, []
    for streams in (False, True):
        def open_chip(model, streams=streams):
            job = compile_job(model, config)
            assert all(region.address + region.words <= config.channel_words - free
                       for region in job.regions.values())
            chip = Streaming(config, free, striped=striped) if streams \
                else CxxrtlTransport(config, bulk=True)
            chips.append(chip)
            chip.close, close = (lambda: None), chip.close
            chip.end = close
            return AloneChip(chip, job, model)
        words, _, cycles[streams] = compare_training(training(config), open_chip)
        assert words.words and words.equal == words.words, str(words)
    quiet, chip = chips
    driver = Driver(chip, config)
    assert len(chip.written) > 1
    for (core, space), data in chip.written.items():
        found = driver.read_words(core, space, config.channel_words - free, free)
        assert found.astype("<u4").tobytes() == data
    assert chip.beats / chip.cycles > 0.1
    print(f"training took {cycles[True] / cycles[False]:.3f} of the cycles without bursts, which "
          f"wrote {chip.beats / chip.cycles:.2f} beats a cycle meanwhile")
    quiet.end()
    chip.end()


@pytest.fixture
def chip():
    chip = CxxrtlTransport(WIDE, bulk=True)
    yield chip
    chip.close()


def test_any_words_are_read_as_they_were_written(chip):
    """Wherever they begin and end in beats, and in the bursts that 4 KiB end."""
    driver, rng = Driver(chip, WIDE), np.random.default_rng(0)
    assert Status(chip.read(register("status"))) == Status.BULK
    for space, depth in ((Space.FEATURES, WIDE.channel_words), (Space.WEIGHTS, WIDE.weight_rows)):
        for core in range(WIDE.cores):
            whole = rng.integers(1 << 32, size=(depth, WIDE.chunks), dtype=np.uint32)
            if space == Space.WEIGHTS:  # its rows are narrower than words
                whole &= driver_mask(driver, core, space)
            driver.write_words(core, space, 0, whole)
            for first, count in ((1, 5), (2, 7), (0, 9), (depth - 11, 11), (130, 300)):
                part = rng.permutation(whole)[:count]
                driver.write_words(core, space, first, part)
                whole[first:first + count] = part
                assert np.array_equal(driver.read_words(core, space, first, count), part)
            assert np.array_equal(driver.read_words(core, space, 0, depth), whole)


def test_any_words_of_all_cores_are_read_as_they_were_written(chip):
    """Wherever they begin and end in beats, and in the bursts that 4 KiB end."""
    driver, access, rng = Driver(chip, WIDE), MemoryAccess(chip, WIDE), np.random.default_rng(0)
    for space in (Space.FEATURES, Space.GRADIENTS):
        whole = rng.integers(1 << 32, size=(WIDE.cores, WIDE.channel_words, WIDE.chunks),
                             dtype=np.uint32)
        access.write_stripes(Stripes(space, 0, tuple(whole)))
        for first, most in ((1, 5), (2, 1), (0, 9), (WIDE.channel_words - 11, 11), (130, 300)):
            parts = tuple(rng.permutation(whole[core])[:max(0, most - core)]
                          for core in range(WIDE.cores))
            access.write_stripes(Stripes(space, first, parts))
            whole[:, first:first + most] = 0
            for core, part in enumerate(parts):
                whole[core, first:first + len(part)] = part
        for core in range(WIDE.cores):
            assert np.array_equal(
                driver.read_words(core, space, 0, WIDE.channel_words), whole[core])


def driver_mask(driver, core, space):
    """What a memory keeps of ones."""
    ones = np.full((8, WIDE.chunks), 0xFFFFFFFF, dtype=np.uint32)
    driver.write_words(core, space, 0, ones)
    return driver.read_words(core, space, 0, 8)[:1]


def test_a_transfer_that_fails_and_the_chip_after_it(chip):
    """A program runs, or a reset is under way; the next load makes the chip as good as new."""
    model = training(WIDE).model()
    job = compile_job(model, WIDE)
    device = AloneChip(chip, job, model)
    place = bulk_address(1, Space.GRADIENTS, 64)
    chip.write(register("entry"), job.starts["train"])
    chip.write(register("control"), Control.START)
    with pytest.raises(TransportError, match=r"bulk write at 0x180000040 was refused with resp"):
        chip.write_bulk(bulk_address(1, Space.WEIGHTS, 64), bytes(64))
    with pytest.raises(TransportError, match=r"bulk read at 0x160000040 was refused with resp"):
        chip.read_bulk(place, 64)
    with pytest.raises(DeviceError, match="is running a program"):
        device.driver.write_words(1, Space.GRADIENTS, 0, np.zeros((99, 2), dtype=np.uint32))
    with pytest.raises(TransportError, match=r"bulk read at 0x3e0000000 was refused"):
        chip.read_bulk(bulk_address(3, 7, 0), 16)
    with pytest.raises(TransportError, match=r"bulk read at 0x6000000040 was refused"):
        chip.read_bulk(striped_address(Space.GRADIENTS, 64), 16)
    all_cores = WIDE.cores * WIDE.channel_words * WIDE.word_width // 8
    with pytest.raises(TransportError, match=r"bulk write at 0x40000\w+ was refused"):
        chip.write_bulk(striped_address(Space.FEATURES, all_cores), bytes(16))
    reset_chip(chip)
    words, _, _ = compare_training(training(WIDE), lambda model: AloneChip(
        chip, compile_job(model, WIDE), model))
    assert words.words and words.equal == words.words, str(words)


class Card:
    """What XDMA's driver makes of a chip: three files; the bytes of one transfer may not go on."""

    def __init__(self, chip, monkeypatch):
        self.chip, self.transfers, self.most = chip, 0, None
        system = SimpleNamespace(
            close=lambda file: None, pread=self._pread,
            pwrite=self._pwrite, path=os.path, O_RDWR=os.O_RDWR, O_SYNC=os.O_SYNC,
            O_WRONLY=os.O_WRONLY, O_RDONLY=os.O_RDONLY)
        monkeypatch.setattr(xdma_transport, "os", system)
        monkeypatch.setattr(xdma_channels, "os", system)
        for module in (xdma_transport, xdma_channels):
            monkeypatch.setattr(module, "open_device_file", lambda path, flags: path)
        monkeypatch.setattr(xdma_transport, "claim", lambda file, *place: None)

    def _pread(self, file, count, address):
        if file.endswith("_user"):
            return self.chip.read(address).to_bytes(count, "little")
        assert file == "/dev/xdma0_c2h_0"
        return self._transfer(lambda: self.chip.read_bulk(address, self._counted(count)))

    def _pwrite(self, file, data, address):
        if file.endswith("_user"):
            self.chip.write(address, int.from_bytes(data, "little"))
            return len(data)
        assert file == "/dev/xdma0_h2c_0"
        moved = self._counted(len(data))
        self._transfer(lambda: self.chip.write_bulk(address, data[:moved]))
        return moved

    def _counted(self, size):
        self.transfers += 1
        most, self.most = self.most, None
        return size if most is None else min(size, most)

    @staticmethod
    def _transfer(access):
        try:
            return access()
        except TransportError:
            raise OSError(errno.EIO, os.strerror(errno.EIO)) from None


def test_a_training_by_xdma(chip, monkeypatch):
    """It goes on after a transfer that stopped half-way."""
    card = Card(chip, monkeypatch)
    transport, job = open_xdma("xdma:/dev/xdma0_user"), compile_job(training(WIDE).model(), WIDE)
    driver = Driver(transport, WIDE)
    card.most = 24
    with pytest.raises(TransportError, match=r"DMA write at 0x\w+ of /dev/xdma0_h2c_0 stopped "
                                             r"after 24 of \d+ bytes; open or load the device "):
        driver.load(job)
    driver.load(job)
    transport.write(register("control"), Control.RESET)
    with pytest.raises(TransportError, match=r"DMA read at 0x\w+ of /dev/xdma0_c2h_0 failed: I"):
        transport.read_bulk(bulk_address(0, Space.FEATURES, 0), 64)
    reset_chip(transport)
    words, _, _ = compare_training(training(WIDE), lambda model: AloneChip(transport, job, model))
    assert words.words and words.equal == words.words, str(words)
    assert card.transfers > 100
