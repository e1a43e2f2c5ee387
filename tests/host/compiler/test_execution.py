# SPDX-License-Identifier: BSD-2-Clause
"""Predicted cycles, those of every phase."""

import pytest

from hypercast.host.compiler.execution import execute
from hypercast.host.compiler.instruction import Issued
from hypercast.host.compiler.timing import Duration
from hypercast.rtl.isa import Engine, Opcode
from tests.host.noted_programs import noted, summary

ALL = (1 << len(Engine)) - 1


@pytest.mark.parametrize("name", [
    "plain", "several strips", "sixteen cores", "slow memory", "residual", "dropout and Adam"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


def one(opcode, cycles=0, *waits, tail=0, fill=0, begin=0, ahead=0, visible=0, demands=None,
        phase=0, **operands):
    """An instruction that waits for engines."""
    return Issued(opcode=opcode, waits=sum(1 << engine for engine in waits),
                  duration=Duration(cycles=cycles, tail=tail, fill=fill, begin=begin, ahead=ahead,
                                    visible=visible, demands=demands or {}),
                  operands={"phase": phase, **operands})


def cycles(*program):
    """Cycles of a program that then waits for all engines."""
    return execute([*program, one(Opcode.HALT, 0, *Engine)], 1)[0]


@pytest.mark.parametrize(("opcode", "second"), [
    (Opcode.MATMUL, 104), (Opcode.AGGREGATE, 104), (Opcode.DRAIN, 112), (Opcode.UPDATE, 112)])
def test_an_engine_does_one_after_the_other(opcode, second):
    """The first is issued in cycle 4; a vector unit takes 8 cycles to turn round."""
    assert cycles(one(opcode, 100)) == 104
    assert cycles(one(opcode, 100), one(opcode, 30)) == second + 30


@pytest.mark.parametrize(("opcode", "interval"), [(Opcode.MATMUL, 2), (Opcode.DRAIN, 9)])
def test_engines_work_side_by_side(opcode, interval):
    """One is issued at most so often, and later if it waits for an engine."""
    assert cycles(one(Opcode.AGGREGATE, 10), one(opcode, 100)) == 4 + interval + 100
    assert cycles(one(Opcode.AGGREGATE, 50), one(opcode, 100, Engine.AGGREGATE)) == 54 + 100
    assert cycles(one(Opcode.AGGREGATE, 500), one(opcode, 100)) == 504
    assert cycles() == 4


@pytest.mark.parametrize(("opcode", "engine", "arrivals"), [
    (Opcode.GRADIENT, Engine.ARRAY, Engine.REDUCTION),
    (Opcode.UPDATE, Engine.VECTOR, Engine.WEIGHTS)])
def test_what_arrives_later(opcode, engine, arrivals):
    first = one(opcode, 100, tail=40)
    assert cycles(first) == 144
    assert cycles(first, one(Opcode.AGGREGATE, 7, engine)) == 144
    assert cycles(first, one(Opcode.AGGREGATE, 70, engine)) == 174
    assert cycles(first, one(Opcode.AGGREGATE, 7, arrivals)) == 151
    # Its own engine is free before; arrivals of a shorter one are not the last.
    after = 104 + (8 if engine == Engine.VECTOR else 0)
    assert cycles(first, one(opcode, 10, tail=5)) == 144
    assert cycles(first, one(opcode, 10, tail=90)) == after + 100


def test_what_engines_share_makes_them_slower():
    """Each needs 80 of 100 cycles of a channel: both together, 160."""
    demands = {"channel 0": 80}
    first, second = (one(opcode, 100, demands=demands) for opcode in (
        Opcode.AGGREGATE, Opcode.MATMUL))
    # 2 cycles alone, then 98 at the rate 1 / 1.6, then what the second has left alone.
    end = 6 + 98 * 1.6
    assert cycles(first, second) == round(end + 2)
    other = one(Opcode.MATMUL, 100, demands={"channel 1": 80})
    assert cycles(first, other) == cycles(first, one(Opcode.MATMUL, 100)) == 106
    half = one(Opcode.MATMUL, 100, demands={"channel 0": 20})
    assert cycles(first, half) == 106
    most = one(Opcode.MATMUL, 100, demands={"channel 1": 10, "channel 0": 120})
    assert cycles(first, most) == round(6 + 98 * 2 + (100 - 98) * 1.2)
    # What has no part in it goes on; an issue that waits for another engine finds it earlier.
    drain = one(Opcode.DRAIN, 50)
    assert cycles(first, second, drain) == cycles(first, second)
    assert cycles(first, second, drain, one(
        Opcode.AGGREGATE, 1000, Engine.VECTOR)) == round(end) + 1000


def test_alone_an_instruction_may_need_more_than_its_cycles():
    assert cycles(one(Opcode.MATMUL, 100, demands={"channel 0": 150})) == 154


def test_edges_are_awaited():
    """They come some time after the instruction that first named their set, or another one anew."""
    def aggregate(edge_set, length=50, **others):
        return one(Opcode.AGGREGATE, length, fill=200, edge_set=edge_set, **others)

    assert cycles(aggregate(5, 10, prefetch=1)) == 14
    assert cycles(aggregate(5, 10, prefetch=1), aggregate(5)) == 204 + 50
    assert cycles(aggregate(5, 10, prefetch=1), aggregate(5, begin=30)) == 204 + 50 - 30
    assert cycles(aggregate(5, 10, prefetch=1), aggregate(5, begin=195)) == 14 + 50
    assert cycles(aggregate(5)) == 204 + 50
    assert cycles(aggregate(5, 10, prefetch=1), aggregate(5), aggregate(5)) == 204 + 2 * 50
    assert cycles(aggregate(5, 10, prefetch=1), aggregate(6)) == 214 + 50
    assert cycles(aggregate(5), aggregate(6), aggregate(5)) == 4 + 3 * 250
    assert cycles(aggregate(5, 10, prefetch=1), one(Opcode.MATMUL, 100),
                  aggregate(5, 50, prefetch=0)) == 204 + 50


def test_edges_of_later_uses_take_their_share_of_the_channel():
    """The next instruction of that set finds them there."""
    def aggregate(**others):
        return one(Opcode.AGGREGATE, 100, fill=0, edge_set=5, ahead=150,
                   demands={"channel 1": 50}, **others)

    assert cycles(aggregate()) == 4 + 200
    assert cycles(aggregate(), aggregate()) == 4 + 200 + 100
    assert cycles(aggregate(prefetch=1)) == 4 + 100


@pytest.mark.parametrize(("length", "visible", "chained", "end"), [
    (10, 0, 1, 104 + 25), (10, 7, 1, 104 + 25 - 7), (150, 7, 1, 6 + 150), (10, 7, 0, 104)])
def test_chained(length, visible, chained, end):
    """It ends 25 cycles after the last row has been stored, which is before it is visible."""
    first = one(Opcode.DRAIN, 100, visible=visible)
    assert cycles(first, one(Opcode.MATMUL, length, chained=chained)) == end
    assert cycles(one(Opcode.MATMUL, length, chained=chained)) == 4 + length


def test_phases():
    """Cycles are those of the instruction issued last; nothing is done behind a HALT."""
    program = [one(Opcode.MATMUL, 100, phase=2), one(Opcode.MATMUL, 50, phase=1),
               one(Opcode.AGGREGATE, 10, phase=2), one(Opcode.HALT, 0, *Engine, phase=0),
               one(Opcode.MATMUL, 100, phase=2)]
    assert execute(program, 4) == (154, [4, 2, 100 + 48, 0])
