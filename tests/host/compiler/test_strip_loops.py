# SPDX-License-Identifier: BSD-2-Clause
"""Loops keep the meaning of a program, whatever its traversals depend on."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.instruction import SHARED, Accumulators, IssuedLoop
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.strip_loops import UnlikeStripsError
from hypercast.host.compiler.timing import Duration
from hypercast.rtl.isa import OPERATIONS, DrainSource, Engine, Opcode, decode
from hypercast.rtl.loop import unroll

SOURCES = {Opcode.MATMUL: DrainSource.ARRAY, Opcode.AGGREGATE: DrainSource.AGGREGATION,
           Opcode.GRADIENT: DrainSource.AGGREGATION}
ROWS = 16  # of a strip
#: Opcode, what it depends on of the traversals before it, panels, cycles of a sum and of its drain,
#: and whether the array's strips take turns in a place that they share.
traversals = st.lists(st.tuples(
    st.sampled_from([*SOURCES]), st.sets(st.integers(1, 6), max_size=3), st.integers(1, 3),
    st.integers(1, 300), st.integers(1, 100), st.booleans()), min_size=1, max_size=7)


class Program:
    """A program in loops, its instructions known by their numbers.

    A sum over neighbours reads all strips, others read their own. Gradients are updated at the end.
    """

    def __init__(self, traversals, strips):
        self.schedule = Schedule(trials=2, loops=True)
        self.added = []  # (opcode, reads, writes, accumulators)
        self.turns = {}  # what uses the shared place, to its traversal and strip
        updates, reduced = [], None
        for number, (opcode, before, panels, cycles, rest, turns) in enumerate(traversals):
            sources = [number - back for back in before if back <= number
                       and traversals[number - back][0] != Opcode.GRADIENT]
            if opcode == Opcode.GRADIENT:
                reduced = Accumulators(SOURCES[opcode], after=reduced)
                updates.append((number, reduced))
            for strip, panel in itertools.product(range(strips), range(panels)):
                read = range(strips) if opcode == Opcode.AGGREGATE else [strip]
                reads = {(source, one, any_panel) for source in sources for one in read
                         for any_panel in range(traversals[source][2])}
                sums = reduced if opcode == Opcode.GRADIENT else Accumulators(SOURCES[opcode])
                fields = {"panel": panel} if opcode != Opcode.AGGREGATE else {
                    "send_list": 100 * number + 7 * strip, "edge_set": 10 * strip}
                fills = set()
                if turns and opcode != Opcode.AGGREGATE:
                    self.turns[len(self.added)] = number, strip
                    fills, reads = ({SHARED}, reads) if panel == 0 else (set(), reads | {SHARED})
                self._add(opcode, reads, fills, sums, cycles, strip, phase=number, **fields)
                if opcode != Opcode.GRADIENT:
                    self._add(Opcode.DRAIN, set(), {(number, strip, panel)}, sums, rest, strip,
                              phase=number, opens=f"tensor {number}", o=number,
                              address=1000 * panel + ROWS * strip)
        for number, sums in updates:
            self._add(Opcode.UPDATE, set(), {("weights", number)}, sums, 9, None, phase=number)
        self.schedule.halt(phase=0, step=0)
        self.issued = self.schedule.issued[:-1]
        self.order = [int(one.label) for one in self.issued]

    def _add(self, opcode, reads, writes, sums, cycles, strip, **fields):
        rows = {} if strip is None or opcode == Opcode.AGGREGATE else {
            "row_start": ROWS * strip, "row_limit": ROWS}
        self.schedule.add(opcode, rows, duration=Duration(cycles=cycles), reads=reads,
                          writes=writes, accumulators=sums, label=str(len(self.added)),
                          strip=None if strip is None else ROWS * strip, **fields)
        self.added.append((opcode, reads, writes, sums))


def rolled(found, strips):
    """The program; None if its buffers are too few."""
    try:
        return Program(found, strips)
    except UnlikeStripsError:
        # Two gradients are reduced at once.
        assert sum(one[0] == Opcode.GRADIENT for one in found) > 1
        return None


@given(traversals, st.integers(2, 5))
def test_order_keeps_dependencies(found, strips):
    if program := rolled(found, strips):
        assert sorted(program.order) == list(range(len(program.added)))
        place = {number: row for row, number in enumerate(program.order)}
        for late, (opcode, reads, _, sums) in enumerate(program.added):
            for early, (other, _, writes, others) in enumerate(program.added):
                same = sums is others and (other in SOURCES) and opcode not in SOURCES
                if same or (writes & reads) - {SHARED}:
                    assert place[early] < place[late]


@given(traversals, st.integers(2, 5))
def test_strips_take_turns_in_a_shared_place(found, strips):
    """What fills it is used before the next strip of any traversal fills it."""
    if program := rolled(found, strips):
        order = [one for one in program.order if one in program.turns]
        for turn, some in itertools.groupby(order, key=program.turns.get):
            assert [*some] == [one for one in program.turns if program.turns[one] == turn]


@given(traversals, st.integers(2, 5))
def test_nothing_overlaps_what_it_conflicts_with(found, strips):
    """Worst case: nothing ever finishes unless it is waited for. A buffer has one use at a time."""
    program = rolled(found, strips)
    if not program:
        return
    takers = [sums for opcode, *_, sums in program.added if opcode not in SOURCES]
    working, used = [], {}
    for number, issued in zip(program.order, program.issued, strict=True):
        opcode, reads, writes, sums = program.added[number]
        own, arrivals = OPERATIONS[opcode].engine, OPERATIONS[opcode].arrivals
        assert not issued.waits >> own & 1
        working = [one for one in working if one[0] != own and not issued.waits >> one[0] & 1]
        buffer = sums.kind, issued.operands["buffer"]
        assert used.setdefault(buffer, sums) is sums
        adds, takes = ({buffer}, set()) if opcode in SOURCES else (set(), {buffer})
        for engine, other_reads, other_writes, other_adds in working:
            changed = writes | takes
            assert not changed & (other_reads | other_writes | other_adds), engine
            assert not (reads | adds) & other_writes, engine
        working.append((own, reads, writes | takes, adds))
        if arrivals is not None:
            working.append((arrivals, set(), writes - {SHARED}, adds))
        if takes:
            takers.remove(sums)
            if sums not in takers:
                del used[buffer]


@given(traversals, st.integers(2, 5))
def test_words_unroll_to_what_is_issued(found, strips):
    """Each tensor is opened once, by the first that is issued of it."""
    program = rolled(found, strips)
    if not program:
        return
    opened = []
    for issued, (_, word, first, looped) in zip(
            program.schedule.issued, unroll(program.schedule.words), strict=True):
        fields = decode(word)
        assert issued.looped == looped
        assert fields["opcode"] == issued.opcode and fields["waits"] == issued.waits
        for name, value in issued.operands.items():
            assert name == "open" or fields[name] == value, name
        if issued.opcode == Opcode.DRAIN:
            assert first or not issued.operands["open"]
            assert (fields["open"] and first) == issued.operands["open"]
            opened += [fields["o"]] * issued.operands["open"]
    assert sorted(opened) == [number for number, one in enumerate(found)
                              if one[0] != Opcode.GRADIENT]


@given(traversals)
def test_length_does_not_depend_on_strips(found):
    programs = [rolled(found, strips) for strips in (2, 3, 7)]
    if all(programs):
        assert len({program.schedule.rows for program in programs}) == 1
        for program in programs:
            assert program.schedule.rows == len(program.schedule.words)


def test_one_strip_has_no_loop():
    program = Program([(Opcode.MATMUL, set(), 2, 10, 5, False)], 1)
    assert not any(isinstance(part, IssuedLoop) for part in program.schedule.parts)


def test_sums_of_one_traversal_overlap_products_of_another():
    """A panel's sum over neighbours is under way while the next panel is multiplied."""
    strips = 6
    program = Program([(Opcode.MATMUL, set(), 1, 100, 10, False),
                       (Opcode.MATMUL, set(), 1, 90, 10, False),
                       (Opcode.AGGREGATE, {2}, 1, 100, 10, False),
                       (Opcode.AGGREGATE, {2}, 1, 100, 10, False)],
                      strips)
    kinds = [sorted({one.opcode for one in part.issued}) for part in program.schedule.parts[:-1]]
    assert kinds == [[Opcode.MATMUL, Opcode.DRAIN],
                     [Opcode.AGGREGATE, Opcode.MATMUL, Opcode.DRAIN],
                     [Opcode.AGGREGATE, Opcode.DRAIN]]


def test_a_product_of_sums_lags_a_strip_behind():
    program = Program([(Opcode.AGGREGATE, set(), 1, 100, 10, False),
                       (Opcode.MATMUL, {1}, 1, 90, 10, False)], 4)
    [loop, _] = program.schedule.parts
    assert {one.opcode: lag for one, lag, _ in loop.body if one.opcode != Opcode.DRAIN} == {
        Opcode.AGGREGATE: 0, Opcode.MATMUL: 1}
    # No engine waits for another one's work on the same strip.
    assert all(not one.waits >> Engine.AGGREGATE & 1 for one, _, _ in loop.body
               if one.opcode == Opcode.MATMUL)


@pytest.mark.parametrize("change", [{"address": 5}, {"panel": 1}])
def test_strips_that_are_not_alike_have_no_loops(change):
    schedule = Schedule(trials=2, loops=True)
    for strip in range(4):
        fields = {"address": 32 * strip, "panel": 0, **(change if strip == 2 else {})}
        schedule.add(Opcode.MATMUL, fields, duration=Duration(cycles=9), phase=0, strip=strip,
                     accumulators=Accumulators(DrainSource.ARRAY))
    with pytest.raises(UnlikeStripsError):
        schedule.halt(phase=0, step=0)
