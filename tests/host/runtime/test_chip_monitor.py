# SPDX-License-Identifier: BSD-2-Clause
"""What a chip says of itself: counters, cycles, and which errors mean what."""

import pytest

from hypercast.host.runtime.chip_monitor import ChipMonitor
from hypercast.host.runtime.driver import Driver
from hypercast.rtl.isa import Engine, Opcode
from hypercast.rtl.registers import ALL_CORES, COUNTERS, CoreSpace, Error, Space, Status
from tests.host.models import SMALL
from tests.host.runtime.fake_chip import FakeChip


def test_totals():
    """Sums over the cores, with what they have beyond 32 bits."""
    chip, names = FakeChip(SMALL), ["loss_train", "saturations", "correct_test"]
    driver, numbers = Driver(chip, SMALL), [list(COUNTERS).index(name) for name in names]
    counts = {0: [0xFFFFFFFF, 0, 3], 1: [0xFFFFFFF0, 7, 4]}
    places = [CoreSpace.COUNTERS + number for number in numbers]
    for core, values in counts.items():
        chip.window[core, Space.CORE] = dict(zip(places, values, strict=True))
    found = {name: sum(pair) for name, *pair in zip(names, *counts.values(), strict=True)}
    assert driver.monitor.totals(names) == found and found["loss_train"] > 1 << 32


def test_cycles_have_64_bits():
    chip = FakeChip(SMALL, cycles_low=5, cycles_high=2)
    assert Driver(chip, SMALL).monitor.cycles() == 2 << 32 | 5


def test_where_it_is():
    """The row's instruction is named unless the chip runs, which then has the memory."""
    chip = FakeChip(SMALL, pc=3, waits=1 << Engine.ARRAY, step=9, cycles_low=40)
    monitor = Driver(chip, SMALL).monitor
    chip.window[0, Space.PROGRAM] = {48: int(Opcode.HALT)}
    assert monitor.where() == ("program row 3 (HALT), waiting for array, busy: none, step 9, "
                               "40 cycles")
    chip["status"] = Status.RUNNING
    assert monitor.where().startswith("program row 3, waiting for array")


@pytest.mark.parametrize("opcode", Opcode)
def test_the_opcode_is_the_lowest_bits_of_a_row(opcode):
    """Whatever the others are, and whatever else a chip says that does not run."""
    for status in (Status.DONE | Status.BULK, Status.ERROR):
        chip = FakeChip(SMALL, pc=2, status=status)
        chip.window[0, Space.PROGRAM] = {32: 0xFFFFFFF0 | opcode}
        assert Driver(chip, SMALL).monitor.where().startswith(f"program row 2 ({opcode.name}),")


class Memories:
    """Memories of zeros, and what is read of them: core, space, first address, count."""

    def __init__(self):
        self.reads = []

    def read_window(self, *place):
        self.reads.append(place)
        return [0] * place[-1]


@pytest.mark.parametrize("names", [
    ["saturations"], [*COUNTERS][:1], [*COUNTERS][-2:], [[*COUNTERS][5], [*COUNTERS][3]]])
def test_counters_are_read_from_the_first_to_the_last_that_is_asked_for(names):
    numbers = [[*COUNTERS].index(name) for name in names]
    first, count = min(numbers), max(numbers) - min(numbers) + 1
    memories = Memories()
    monitor = ChipMonitor(FakeChip(SMALL), memories, 2)
    assert monitor.counters(names) == {name: [0, 0] for name in names}
    assert monitor.totals(names) == dict.fromkeys(names, 0)
    assert memories.reads == [
        *((core, Space.CORE, CoreSpace.COUNTERS + first, count) for core in range(2)),
        *((ALL_CORES, Space.CORE, base + first, count)
          for base in (CoreSpace.COUNTERS, CoreSpace.CARRIES))]


@pytest.mark.parametrize(("counter", "error", "text"), [
    ("link_faults", Error.LINK, ": flits came corrupted over links to cores 1; results are void"),
    ("weights_faults", Error.MEMORY, "had changed: weight bank of core 1; results are void")])
def test_errors_are_explained_with_the_cores_that_have_them(counter, error, text):
    chip = FakeChip(SMALL)
    chip.window[1, Space.CORE] = {CoreSpace.COUNTERS + list(COUNTERS).index(counter): 2}
    assert text in Driver(chip, SMALL).monitor.explain(error)


def test_every_error_is_explained():
    monitor = Driver(FakeChip(SMALL), SMALL).monitor
    assert {error for error in Error if not monitor.explain(error)} == {
        Error.OPCODE, Error.WINDOW}
