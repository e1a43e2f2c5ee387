# SPDX-License-Identifier: BSD-2-Clause
"""Programs keep their meaning in the order chosen, and every wait has a reason."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.instruction import Accumulators
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.timing import Duration
from hypercast.rtl.isa import OPERATIONS, DrainSource, Engine, Opcode, decode, engine_of
from tests.host.noted_programs import noted, summary

#: Who takes out what an instruction adds to accumulators, and where those are.
TAKING = {
    Opcode.MATMUL: (Opcode.DRAIN, DrainSource.ARRAY),
    Opcode.AGGREGATE: (Opcode.DRAIN, DrainSource.AGGREGATION),
    Opcode.GRADIENT: (Opcode.UPDATE, DrainSource.AGGREGATION),
}
#: Fields that tell how long an instruction takes.
FIELDS = {Opcode.AGGREGATE: {"edge_set": 0}}
names = st.sets(st.sampled_from("abcdef"), max_size=3)
durations = st.builds(Duration, cycles=st.integers(1, 200), tail=st.integers(0, 50))
some = st.lists(st.tuples(names, names, durations), min_size=1, max_size=3)
#: (opcode, (reads, writes, duration) of each of them, and the same of those who take out).
steps = st.lists(st.tuples(st.sampled_from([*TAKING, Opcode.LOSS]), some, some), max_size=12)


class Program:
    """Instructions as they were added, each known by its number.

    What is shown holds for any order: a few trials are enough.
    """

    def __init__(self, steps):
        self.schedule = Schedule(trials=2)
        self.added = []  # (opcode, reads, writes, accumulators)
        reduced, updates = None, []
        for opcode, adding, taking in steps:
            if opcode not in TAKING:
                for reads, writes, duration in adding:
                    self._add(opcode, reads, writes, duration, None)
                continue
            taker, kind = TAKING[opcode]
            group = opcode == Opcode.GRADIENT
            accumulators = Accumulators(kind, after=reduced if group else None)
            # Whoever adds to accumulators writes nothing else.
            # What is reduced was finished long ago, and is not written again. An aggregation is one
            # instruction.
            adding = adding[:1] if opcode == Opcode.AGGREGATE else adding
            for reads, _, duration in adding:
                self._add(opcode, set() if group else reads, set(), duration, accumulators)
            if group:  # updates come at the end of a program
                reduced = accumulators
                updates += [(taker, *one, accumulators) for one in taking]
            else:
                self._add(taker, *taking[0], accumulators)
        for update in updates:
            self._add(*update)
        self.schedule.halt(phase=0, step=0)
        #: Numbers of the instructions in order of issue, HALT left out.
        self.order = [int(label) for _, label in self.schedule.labels]
        self.issued = self.schedule.issued[:-1]

    def _add(self, opcode, reads, writes, duration, accumulators):
        self.schedule.add(opcode, phase=0, duration=duration, reads=reads, writes=writes,
                          accumulators=accumulators, label=str(len(self.added)),
                          **FIELDS.get(opcode, {}))
        self.added.append((opcode, set(reads), set(writes), accumulators))


def conflicts(one, other):
    """Whether two instructions may not change places."""
    sharing = one[3] is not None and one[3] is other[3]
    return bool(one[2] & (other[1] | other[2]) or one[1] & other[2]
                or (sharing and (one[0] in TAKING) != (other[0] in TAKING)))


@given(steps)
def test_order_keeps_dependencies(steps):
    program = Program(steps)
    assert sorted(program.order) == list(range(len(program.added)))
    place = {number: row for row, number in enumerate(program.order)}
    for late, instruction in enumerate(program.added):
        for early in range(late):
            if conflicts(program.added[early], instruction):
                assert place[early] < place[late]


@given(steps)
def test_nothing_overlaps_what_it_conflicts_with(steps):
    """Worst case: nothing ever finishes unless it is waited for."""
    program = Program(steps)
    working = []  # (engine, reads, writes, adds) of what may be under way
    buffers = {}
    for number, issued in zip(program.order, program.issued, strict=True):
        opcode, reads, writes, accumulators = program.added[number]
        own, arrivals = OPERATIONS[opcode].engine, OPERATIONS[opcode].arrivals
        working = [entry for entry in working
                   if entry[0] != own and not issued.waits >> entry[0] & 1]
        everything, adds = set(writes), set()
        if accumulators:
            buffer = issued.operands["buffer"]
            assert buffers.setdefault(accumulators, buffer) == buffer in (0, 1)
            (adds if opcode in TAKING else everything).add((accumulators.kind, buffer))
        for engine, other_reads, other_writes, other_adds in working:
            assert not everything & (other_reads | other_writes | other_adds), engine
            assert not (reads | adds) & other_writes, engine
            if engine == Engine.REDUCTION and opcode == Opcode.GRADIENT:
                assert adds == other_adds
        working.append((own, reads, everything, adds))
        if arrivals is not None:
            working.append((arrivals, set(), set() if adds else writes, adds))


@given(steps)
def test_a_buffer_has_one_use_at_a_time(steps):
    """From the first addition until all is taken out."""
    program = Program(steps)
    left = {}  # who still takes out
    for *_, accumulators in program.added:
        if accumulators:
            left.setdefault(accumulators, 0)
    for opcode, *_, accumulators in program.added:
        if accumulators and opcode not in TAKING:
            left[accumulators] += 1
    used = {}
    for number, issued in zip(program.order, program.issued, strict=True):
        opcode, *_, accumulators = program.added[number]
        if accumulators:
            place = accumulators.kind, issued.operands["buffer"]
            assert used.setdefault(place, accumulators) is accumulators
            if opcode not in TAKING:
                left[accumulators] -= 1
                if not left[accumulators]:
                    del used[place]


@given(steps)
def test_an_instruction_does_not_wait_for_its_own_engine(steps):
    for issued in Program(steps).issued:
        assert not issued.waits >> engine_of(issued.opcode) & 1


def test_halt_waits_for_everything():
    words = Program([]).schedule.words
    assert [decode(word)["waits"] for word in words] == [(1 << len(Engine)) - 1]


def add(schedule, opcode, cycles, *, reads=(), writes=(), follows=(), accumulators=None, **fields):
    schedule.add(opcode, phase=0, duration=Duration(cycles=cycles), reads=reads, writes=writes,
                 follows=follows, accumulators=accumulators, **FIELDS.get(opcode, {}), **fields)


def test_engines_overlap():
    """Two panels: the second product is computed while the first one's is drained and sent."""
    schedule = Schedule()
    for panel in range(2):
        product, sums = Accumulators(DrainSource.ARRAY), Accumulators(DrainSource.AGGREGATION)
        add(schedule, Opcode.MATMUL, 100, accumulators=product)
        add(schedule, Opcode.DRAIN, 50, writes=[f"T{panel}"], accumulators=product)
        add(schedule, Opcode.AGGREGATE, 100, reads=[f"T{panel}"], accumulators=sums)
        add(schedule, Opcode.DRAIN, 50, writes=[f"H{panel}"], accumulators=sums)
    schedule.halt(phase=0, step=0)
    opcodes = [one.opcode for one in schedule.issued]
    assert opcodes[:5] == [Opcode.MATMUL, Opcode.MATMUL, Opcode.DRAIN, Opcode.AGGREGATE,
                           Opcode.DRAIN]
    aggregate = schedule.issued[3]
    assert aggregate.waits == 1 << Engine.VECTOR


def test_the_critical_path_goes_first():
    """If two products could start, the one on which more depends does."""
    schedule = Schedule()
    for name, cycles in (("short", 10), ("long", 500)):
        accumulators = Accumulators(DrainSource.ARRAY)
        add(schedule, Opcode.MATMUL, 50, accumulators=accumulators, label=name)
        add(schedule, Opcode.DRAIN, 20, writes=[name], accumulators=accumulators)
        add(schedule, Opcode.LOSS, cycles, reads=[name])
    schedule.halt(phase=0, step=0)
    assert [label for _, label in schedule.labels] == ["long", "short"]


@pytest.mark.parametrize("family", [None, "strips"])
def test_a_family_is_equally_urgent(family):
    """By its own path, the strip with the longest one comes first in both panels; as a family, the
    first panel comes first."""
    schedule = Schedule(trials=0)
    for panel, (strip, cycles) in itertools.product(range(2), [("short", 10), ("long", 500)]):
        accumulators = Accumulators(DrainSource.ARRAY)
        add(schedule, Opcode.MATMUL, 50, accumulators=accumulators, label=(panel, strip),
            family=family)
        add(schedule, Opcode.DRAIN, 20, writes=[(panel, strip)], accumulators=accumulators)
        add(schedule, Opcode.LOSS, cycles, reads=[(panel, strip)])
    schedule.halt(phase=0, step=0)
    panels = [panel for _, (panel, _) in schedule.labels]
    strips = [strip for _, (_, strip) in schedule.labels]
    if family:
        assert panels == [0, 0, 1, 1]
    else:
        assert strips == ["long", "long", "short", "short"]


@pytest.mark.parametrize(("reads", "chained"), [(["A"], True), (["A", "B"], False)])
def test_what_is_read_whole_is_not_read_while_it_is_written(reads, chained):
    """One writes A and B; another may read A meanwhile, but not B."""
    schedule = Schedule()
    accumulators = Accumulators(DrainSource.ARRAY)
    add(schedule, Opcode.MATMUL, 100, accumulators=accumulators)
    add(schedule, Opcode.DRAIN, 100, writes=["A", "B"], accumulators=accumulators)
    add(schedule, Opcode.AGGREGATE, 100, reads=reads, follows=["A"],
        accumulators=Accumulators(DrainSource.AGGREGATION))
    schedule.halt(phase=0, step=0)
    last = schedule.issued[2]
    assert last.opcode == Opcode.AGGREGATE
    assert bool(last.operands.get("chained")) == chained


def test_whoever_is_first_opens_the_tensor():
    schedule = Schedule()
    for cycles in (10, 300):
        accumulators = Accumulators(DrainSource.ARRAY)
        add(schedule, Opcode.MATMUL, cycles, accumulators=accumulators)
        add(schedule, Opcode.DRAIN, cycles, accumulators=accumulators, opens="T")
    schedule.halt(phase=0, step=0)
    assert [one.operands["open"] for one in schedule.issued if one.opcode == Opcode.DRAIN] == [1, 0]


def test_gradients_do_not_mix():
    """Digits go to the buffer of the last GRADIENT, so the next one waits for all to arrive."""
    schedule = Schedule()
    for _ in range(2):
        accumulators = Accumulators(DrainSource.AGGREGATION)
        add(schedule, Opcode.GRADIENT, 100, accumulators=accumulators)
        add(schedule, Opcode.UPDATE, 100, accumulators=accumulators)
    schedule.halt(phase=0, step=0)
    gradients = [one for one in schedule.issued if one.opcode == Opcode.GRADIENT]
    updates = [one for one in schedule.issued if one.opcode == Opcode.UPDATE]
    assert [one.operands["buffer"] for one in gradients] == [0, 1]
    assert updates[0].waits >> Engine.REDUCTION & 1 or gradients[1].waits >> Engine.REDUCTION & 1


def test_a_thousand_instructions_take_seconds():
    schedule = Schedule()
    for panel in range(500):
        accumulators = Accumulators(DrainSource.ARRAY)
        add(schedule, Opcode.MATMUL, 100, reads=["X"], accumulators=accumulators)
        add(schedule, Opcode.DRAIN, 50, writes=[f"T{panel}"], accumulators=accumulators)
    start = time.process_time()
    schedule.halt(phase=0, step=0)
    assert time.process_time() - start < 8


def test_unknown_field():
    schedule = Schedule()
    schedule.add(Opcode.DRAIN, phase=0, panels=1)
    schedule.halt(phase=0, step=0)
    with pytest.raises(ValueError, match="DRAIN has no field panels"):
        schedule.words  # noqa: B018


@pytest.mark.parametrize("name", [
    "plain", "residual", "GraphSAGE", "several strips", "jumping", "two bypassed panels"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
