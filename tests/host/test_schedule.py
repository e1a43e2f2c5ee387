"""Every instruction waits for all that it conflicts with, and for nothing that is long done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.schedule import Schedule
from hypercast.rtl.isa import Engine, Opcode, decode

#: The engine of each opcode, and where its effects arrive after that engine is done.
ENGINES = {
    Opcode.AGGREGATE: (Engine.AGGREGATE, None),
    Opcode.MATMUL: (Engine.ARRAY, None),
    Opcode.GRADIENT: (Engine.ARRAY, Engine.REDUCTION),
    Opcode.DRAIN: (Engine.VECTOR, None),
    Opcode.LOSS: (Engine.VECTOR, None),
    Opcode.UPDATE: (Engine.VECTOR, Engine.WEIGHTS),
}
HALT = None
names = st.sets(st.sampled_from("abcdef"), max_size=3)
instructions = st.one_of(
    st.tuples(st.sampled_from(list(ENGINES)), names, names),
    st.tuples(st.just(HALT), st.just(set()), st.just(set())))


def conflicts(one, other):
    """Whether two (opcode, reads, writes) may not overlap in time."""
    return bool(one[2] & (other[1] | other[2]) or one[1] & other[2])


def schedule(program):
    """The waits of each instruction."""
    result = Schedule()
    for opcode, reads, writes in program:
        if opcode is HALT:
            result.halt(phase=0, step=0)
        else:
            result.add(opcode, phase=0, reads=reads, writes=writes)
    return [decode(word)["waits"] for word in result.words]


def finish(working, engine):
    """The engine is idle: nothing works there any more."""
    for engines in working:
        engines.discard(engine)


@given(st.lists(instructions, max_size=25))
def test_nothing_overlaps_what_it_conflicts_with(program):
    """Worst case: nothing ever finishes unless it is waited for."""
    working = []  # engines that each instruction so far may still occupy
    for position, (instruction, waits) in enumerate(zip(program, schedule(program), strict=True)):
        for engine in Engine:
            if waits >> engine & 1:
                finish(working, engine)
        if instruction[0] is HALT:
            assert not any(working), f"HALT {position} does not wait for everything"
            working.append(set())
            continue
        own, arrivals = ENGINES[instruction[0]]
        finish(working, own)
        for earlier, engines in zip(program, working, strict=False):
            assert not (engines and conflicts(instruction, earlier)), \
                f"instruction {position} overlaps {earlier}, still in {engines}"
        working.append({own} if arrivals is None else {own, arrivals})


@given(st.lists(instructions, max_size=25))
def test_every_wait_has_a_reason(program):
    """An engine is waited for only if a conflicting instruction may be there."""
    working = []
    for instruction, waits in zip(program, schedule(program), strict=True):
        if instruction[0] is HALT:
            working = [set() for _ in working] + [set()]
            continue
        own, arrivals = ENGINES[instruction[0]]
        assert not waits >> own & 1, "an instruction's own engine is implied"
        finish(working, own)
        for engine in Engine:
            if waits >> engine & 1:
                assert any(engine in engines and conflicts(instruction, earlier)
                           for earlier, engines in zip(program, working, strict=False))
                finish(working, engine)
        working.append({own} if arrivals is None else {own, arrivals})


def test_gradient_and_update():
    """UPDATE waits for the array and the arrivals; what reads the weights waits for them."""
    waits = schedule([
        (Opcode.GRADIENT, {"gradient"}, {"buffer"}),
        (Opcode.UPDATE, set(), {"buffer", "weights"}),
        (Opcode.MATMUL, {"weights", "rows"}, {"accumulators"}),
    ])
    assert waits == [0, 1 << Engine.ARRAY | 1 << Engine.REDUCTION,
                     1 << Engine.VECTOR | 1 << Engine.WEIGHTS]


def test_unknown_field():
    with pytest.raises(ValueError, match="DRAIN has no field panels"):
        Schedule().add(Opcode.DRAIN, phase=0, panels=1)
