# SPDX-License-Identifier: BSD-2-Clause
"""MemoryAccess: which way it takes, and that all ways lead to the same words."""

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.image import Block, Stripes
from hypercast.host.runtime.memory_access import MemoryAccess
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.registers import Control, Space, bulk_address, register, striped_address
from tests.host.models import SMALL, small_model
from tests.host.runtime.fake_chip import FakeChip

CHUNKS = SMALL.chunks


class BulkChip(FakeChip):
    """A chip with a bulk port, whose transfers are counted; one may stop half-way."""

    bulk = True

    def __init__(self, config, *, stops_at=0):
        super().__init__(config)
        self.transfers = 0
        self._config = config
        self._stops_at = stops_at

    def _place(self, address):
        """Memory and address of the 32 bits that a byte of the port is in."""
        if address >> 38:
            space = Space.GRADIENTS if address >> 37 & 1 else Space.FEATURES
            word, chunk = divmod(address % (1 << 37) // 4, self._config.chunks)
            row, core = divmod(word, self._config.cores)
            place = row * self._config.chunks + chunk
        else:
            core, space = address >> 32, Space(address >> 29 & 7)
            place = address % (1 << 29) // 4
        return self.window.setdefault((core, space), {}), place

    def write_bulk(self, address, data):
        self.transfers += 1
        stops = self.transfers == self._stops_at
        values = np.frombuffer(data, "<u4")[:1 if stops else None].tolist()
        for offset, value in enumerate(values):
            memory, place = self._place(address + 4 * offset)
            memory[place] = value
        if stops:
            raise TransportError(f"bulk write at {address:#x} stopped")

    def read_bulk(self, address, size):
        self.transfers += 1
        memory, first = self._place(address)
        return np.array([memory.get(first + index, 0) for index in range(size // 4)],
                        "<u4").tobytes()


class Kept:
    """A back door to a memory of a chip."""

    def __init__(self, values, chunks):
        self._values, self._chunks = values, chunks

    def write(self, address, words):
        self._values.update(enumerate(words.ravel().tolist(), address * self._chunks))


class OpenChip(BulkChip):
    """A chip with a back door besides."""

    def memory(self, core, space):
        return Kept(self.window.setdefault((core, Space(space)), {}), self._config.chunks)


def words(count):
    return np.random.default_rng(count).integers(1 << 32, size=(count, CHUNKS), dtype=np.uint32)


@pytest.mark.parametrize("space", [Space.FEATURES, Space.GRADIENTS, Space.WEIGHTS])
@pytest.mark.parametrize("chip", [FakeChip(SMALL), BulkChip(SMALL)], ids=["window", "bulk port"])
def test_what_was_written_is_read(chip, space):
    access = MemoryAccess(chip, SMALL)
    for first, count in ((0, 1), (3, 40)):
        access.write(Block(1, space, first * CHUNKS, words(count).ravel()))
        assert np.array_equal(access.read(1, space, first, count), words(count))
        assert chip.window[1, space][first * CHUNKS] == words(count)[0, 0]


@pytest.mark.parametrize(("kind", "transfers"), [(FakeChip, None), (BulkChip, 1), (OpenChip, 0)],
                         ids=["window", "bulk port", "back door"])
@pytest.mark.parametrize("space", [Space.FEATURES, Space.GRADIENTS])
def test_stripes(kind, transfers, space):
    """Every core gets its words; what is behind the longest stays as it was."""
    chip = kind(SMALL)
    access = MemoryAccess(chip, SMALL)
    parts = tuple(words(count) for count in (7, 4, 0, 9)[:SMALL.cores])
    most = max(map(len, parts))
    for core in range(SMALL.cores):
        chip.window[core, space] = dict.fromkeys(range(20 * CHUNKS), 1)
    access.write_stripes(Stripes(space, 3, parts))
    for core, part in enumerate(parts):
        found = np.array([chip.window[core, space][place] for place in range(20 * CHUNKS)],
                         dtype=np.uint32).reshape(-1, CHUNKS)
        assert np.array_equal(found[3:3 + len(part)], part)
        assert (found[:3] == 1).all() and (found[3 + most:] == 1).all()
        assert np.isin(found[3 + len(part):3 + most], (0, 1)).all()
    if transfers is not None:
        assert chip.transfers == transfers


def test_stripes_without_words():
    chip = BulkChip(SMALL)
    MemoryAccess(chip, SMALL).write_stripes(
        Stripes(Space.FEATURES, 0, (words(0),) * SMALL.cores))
    assert not chip.transfers


def test_stripes_come_in_order_of_rows():
    """And however few they are, they are one transfer to one address."""
    chip, found = BulkChip(SMALL), []
    chip.write_bulk = lambda *transfer: found.append(transfer)
    parts = tuple(np.full((2, CHUNKS), core, dtype=np.uint32) for core in range(SMALL.cores))
    MemoryAccess(chip, SMALL).write_stripes(Stripes(Space.GRADIENTS, 5, parts))
    [(address, data)] = found
    assert address == striped_address(Space.GRADIENTS, 5 * SMALL.cores * CHUNKS * 4)
    assert np.frombuffer(data, "<u4").reshape(2, SMALL.cores, CHUNKS)[:, :, 0].tolist() == [
        list(range(SMALL.cores))] * 2


def test_little_and_other_spaces_go_through_the_window():
    chip = BulkChip(SMALL)
    access = MemoryAccess(chip, SMALL)
    access.write(Block(0, Space.FEATURES, 0, words(1).ravel()))
    access.read(0, Space.FEATURES, 0, 1)
    for space in (Space.PROGRAM, Space.TENSORS, Space.CORE):
        access.write(Block(0, space, 0, words(64).ravel()))
    assert chip.transfers == 0
    access.write(Block(0, Space.FEATURES, 0, words(64).ravel()))
    access.read(0, Space.FEATURES, 0, 64)
    assert chip.transfers == 2


def test_a_job_is_loaded_alike():
    job = compile_job(small_model(), SMALL)
    by_window, by_bulk = FakeChip(SMALL), BulkChip(SMALL)
    for chip in (by_window, by_bulk):
        Driver(chip, SMALL).load(job)
    assert by_window.window == by_bulk.window
    assert len(by_bulk.writes) < len(by_window.writes)


def test_a_sample_is_loaded_alike():
    job = compile_job(small_model(), SMALL)
    by_window, by_bulk = FakeChip(SMALL), BulkChip(SMALL)
    for chip in (by_window, by_bulk):
        driver = Driver(chip, SMALL)
        driver.load(job)
        chip.transfers = 0
        for _ in range(2):
            driver.load_sample(job)
    for place, values in by_window.window.items():
        assert by_bulk.window[place].items() >= values.items()
        assert not any(value for key, value in by_bulk.window[place].items() if key not in values)
    assert by_bulk.transfers == 2 * len(job.images[0])


def test_a_sample_that_stops_half_way():
    """The load after it resets the chip."""
    job = compile_job(small_model(), SMALL)
    chip = BulkChip(SMALL)
    driver = Driver(chip, SMALL)
    driver.load(job)
    chip.transfers, chip._stops_at = 0, 2
    with pytest.raises(TransportError, match="stopped"):
        driver.load_sample(job)
    chip.writes.clear()
    driver.load(job)
    assert chip.writes[0] == (register("control"), Control.RESET)


def test_a_transfer_that_stops_half_way_and_the_load_after_it():
    job = compile_job(small_model(), SMALL)
    chip, whole = BulkChip(SMALL, stops_at=2), FakeChip(SMALL)
    driver = Driver(chip, SMALL)
    with pytest.raises(TransportError, match="stopped"):
        driver.load(job)
    chip.writes.clear()
    driver.load(job)
    assert chip.writes[0] == (register("control"), Control.RESET)
    Driver(whole, SMALL).load(job)
    assert chip.window == whole.window


def test_a_transport_without_the_port():
    chip = FakeChip(SMALL)
    assert not chip.bulk
    for access in (lambda place: chip.write_bulk(place, bytes(16)),
                   lambda place: chip.read_bulk(place, 16)):
        with pytest.raises(TransportError, match="does not reach its bulk port"):
            access(bulk_address(0, Space.FEATURES, 0))
