"""MemoryAccess: which way it takes, and that all ways lead to the same words."""

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.image import Block
from hypercast.host.runtime.memory_access import MemoryAccess
from hypercast.host.runtime.transport import TransportError
from hypercast.rtl.registers import Control, Space, bulk_address, register
from tests.host.models import SMALL, small_model
from tests.host.runtime.fake_chip import FakeChip

CHUNKS = SMALL.chunks


class BulkChip(FakeChip):
    """A chip with a bulk port, whose transfers are counted; one may stop half-way."""

    bulk = True

    def __init__(self, config, *, stops_at=0):
        super().__init__(config)
        self.transfers = 0
        self._stops_at = stops_at

    def _place(self, address):
        self.transfers += 1
        core, space = address >> 32, Space(address >> 29 & 7)
        return self.window.setdefault((core, space), {}), address % (1 << 29) // 4

    def write_bulk(self, address, data):
        memory, first = self._place(address)
        stops = self.transfers == self._stops_at
        values = np.frombuffer(data, "<u4")[:1 if stops else None].tolist()
        memory.update(enumerate(values, first))
        if stops:
            raise TransportError(f"bulk write at {address:#x} stopped")

    def read_bulk(self, address, size):
        memory, first = self._place(address)
        return np.array([memory.get(first + index, 0) for index in range(size // 4)],
                        "<u4").tobytes()


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
