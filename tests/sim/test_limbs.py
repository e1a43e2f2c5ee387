# SPDX-License-Identifier: BSD-2-Clause
"""Limbs of wide values: every bit is in one, and runs of them give operands back."""

from hypothesis import given
from hypothesis import strategies as st

from hypercast.sim.gates import WIDEST, Gate
from hypercast.sim.limbs import BITWISE, cut, runs


@st.composite
def netlists(draw):
    """Inputs and registers that take bits of them, slices and single bits, in any order."""
    gates, bits = [], 2  # nets 0 and 1 are constants in a netlist's file
    for width in draw(st.lists(st.integers(1, 200), min_size=1, max_size=3)):
        gates.append(Gate("input", "", [*range(bits, bits + width)], []))
        bits += width
    known = [bit for gate in gates for bit in gate.bits]
    for _ in range(draw(st.integers(0, 4))):
        operand = draw(operands(known))
        kind = draw(st.sampled_from(["not", "and", "register", "add"]))
        count = 1 if kind in ("not", "register") else 2
        gates.append(Gate(kind, "", [*range(bits, bits + len(operand))], [operand] * count))
        bits += len(operand)
        known += gates[-1].bits
    return gates, known


def operands(known):
    """Slices of nets that follow each other, one net again and again, and constants."""
    slices = st.one_of(
        st.builds(lambda first, width: known[first % len(known):][:width], st.integers(0, 999),
                  st.integers(1, 120)),
        st.builds(lambda place, count: [known[place % len(known)]] * count, st.integers(0, 999),
                  st.integers(1, 9)),
        st.lists(st.sampled_from("01"), min_size=1, max_size=9))
    return st.lists(slices, min_size=1, max_size=3).map(
        lambda found: [bit for bits in found for bit in bits])


@given(netlists(), st.data())
def test_limbs_are_slices_of_what_a_gate_gives(netlist, data):
    gates, known = netlist
    places = cut(gates, [data.draw(operands(known))], [])
    assert places.keys() == set(known)
    limbs = {limb.number: limb for limb, _ in places.values()}
    assert sorted(limbs) == list(range(len(limbs)))
    for limb in limbs.values():
        assert 1 <= limb.width <= WIDEST and limb.width <= limb.element in (8, 16, 32, 64)
        assert limb.element == 8 or limb.element < 2 * limb.width
        for place, bit in enumerate(limb.gate.bits[limb.first:limb.first + limb.width]):
            assert places[bit] == (limb, place)
    for gate in gates:
        own = [limb for limb in limbs.values() if limb.gate is gate]
        assert sum(limb.width for limb in own) == len(gate.bits)
        if len(gate.bits) <= WIDEST:
            assert len(own) == 1


@given(netlists(), st.data())
def test_runs_give_an_operand_back(netlist, data):
    gates, known = netlist
    operand = data.draw(operands(known))
    places = cut(gates, [operand], [])
    found = []
    for run in runs(operand, places):
        if run.limb is None:
            found += [str(run.first >> bit & 1) for bit in range(run.width)]
        else:
            bits = run.limb.gate.bits[run.limb.first:][:run.limb.width]
            found += [bits[run.first]] * run.width if run.repeated else \
                bits[run.first:run.first + run.width]
    assert found == operand


def test_what_is_read_in_slices_is_cut_there():
    """Slices of fewer than 8 bits are no reason to cut."""
    wide = Gate("input", "", [*range(2, 102)], [])
    for first, width, cuts in ((10, 40, [10, 50]), (10, 7, []), (0, 8, [8]), (92, 8, [92])):
        places = cut([wide], [wide.bits[first:first + width]], [])
        begins = {limb.first for limb, _ in places.values()}
        assert {*cuts} <= begins
        assert begins - {*cuts} <= {0, WIDEST, *(begin + WIDEST for begin in cuts)}


def test_bitwise_gates_are_cut_as_their_operands():
    for kind in BITWISE:
        wide = Gate("input", "", [*range(2, 102)], [])
        other = Gate(kind, "", [*range(200, 300)], [wide.bits] * (1 if kind != "and" else 2))
        places = cut([wide, other], [wide.bits[24:64]], [])
        firsts = [{limb.first for limb, _ in places.values() if limb.gate is gate}
                  for gate in (wide, other)]
        assert firsts[0] == firsts[1] >= {24, 64}
