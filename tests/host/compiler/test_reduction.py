# SPDX-License-Identifier: BSD-2-Clause
"""Gradients are sent as few digits, and rebuilt from them."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.packing import deal
from hypercast.host.compiler.reduction import (
    GradientDigits,
    digits_for,
    gradient_digits,
    plan_reductions,
)
from hypercast.reference.bounds import gradient_bounds
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.sample import Mantissas
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Opcode, decode
from tests.host.models import SMALL, small_graph, small_model
from tests.host.noted_programs import noted, summary


def rebuilt(value, digits, width):
    """What a receiver adds up of a sum: signed digits, lowest first, the last one cut off."""
    total = 0
    for number in range(digits):
        digit = (value + (1 << width - 1)) % (1 << width) - (1 << width - 1)
        total += digit << width * number
        value = value - digit >> width
    return total


@pytest.mark.parametrize("width", [8, 16])
def test_digits_hold_every_sum_up_to_the_bound(width):
    config = Config(element_width=width)
    edges = {(1 << bit) + offset for bit in range(config.accumulator_width - 1)
             for offset in (-1, 0, 1)}
    for digits in range(1, config.digits):
        end = int("7F" + "FF" * (width // 8 - 1), 16) * sum(1 << width * i for i in range(digits))
        edges |= {end - 1, end, end + 1}
    for bound in sorted(edges):
        digits = digits_for(bound, config)
        wrap = 1 << config.accumulator_width
        for value in (bound, -bound, bound - 1):
            assert (rebuilt(value, digits, width) - value) % wrap == 0
            assert rebuilt(value, digits, width) == value or digits == config.digits
        if digits > 1:
            assert rebuilt(bound, digits - 1, width) != bound, "one digit less would do"


def digits_of(model, config=SMALL):
    """``digits`` of the program's GRADIENTs, in order."""
    job = compile_job(model, config.replace(program_rows=512, channel_words=2048))
    return [entry["digits"] for entry in map(decode, job.program)
            if entry["opcode"] == Opcode.GRADIENT]


def with_features(model, values):
    """A model with other mantissas of the input features."""
    features = Mantissas(values, model.sample.features.exponent)
    return model.with_sample(replace(model.sample, features=features))


def test_known_input_features_count_as_they_are():
    """Features of few bits take two digits, unless they are aggregated first."""
    features = [[1.0, 0], [0, 1], [1, 1], [0, 0]]
    graph = small_graph(vertices=4, features=2, classes=2)
    values = np.array(features, dtype=np.int64)
    model = small_model(graph, hidden=())
    assert gradient_digits(with_features(model, values), SMALL) == {"W1": 2, "b1": 2}
    values[2, 0] = 1 << 14
    assert gradient_digits(with_features(model, values), SMALL) == {"W1": 2, "b1": 2}
    assert gradient_digits(with_features(model, 4 * values), SMALL) == {"W1": 3, "b1": 2}
    late = small_model(graph, hidden=(), orders=AGGREGATE_FIRST, dropout=0.0)
    values = np.array(features, dtype=np.int64)
    assert gradient_digits(with_features(late, values), SMALL) == {"W1": 3, "b1": 2}


def test_the_busiest_core_counts():
    """Mantissas of 80000 in all are too many for one core, not for two."""
    model = small_model(small_graph(vertices=4, features=1, classes=2), hidden=())
    model = with_features(model, np.array([[20000], [20000], [20000], [20000]]))
    assert gradient_digits(model, SMALL)["W1"] == 2
    assert gradient_digits(model, SMALL.replace(dimensions=0))["W1"] == 3


@pytest.mark.parametrize("cores", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_they_are_those_of_the_core_that_needs_most(seed, cores):
    """In any orders of a network, from sums that are found once."""
    generator = np.random.default_rng(seed)
    config = SMALL.replace(dimensions=cores.bit_length() - 1)
    model = small_model(small_graph(vertices=9 + seed, features=5, classes=2), hidden=(3,),
                        dropout=0.0)
    model = with_features(model, generator.integers(-1 << 15, 1 << 15, (9 + seed, 5)) >> seed * 4)
    digits = GradientDigits(model, config)
    for orders in itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=2):
        network = model.network.with_orders(orders)
        bounds = [gradient_bounds(network, deal(model.sample.features.values, core, config),
                                  config.element_width) for core in range(cores)]
        expected = {name: digits_for(max(bound[name] for bound in bounds), config)
                    for name in bounds[0]}
        assert digits(network) == gradient_digits(model, config, network) == expected


def test_program_sends_them():
    model = small_model(small_graph(vertices=9, features=5, classes=2), hidden=(2,))
    digits = gradient_digits(model, SMALL)
    one_each = Counter(digits[name] for name in ("b2", "W2", "b1", "W1"))
    found = Counter(digits_of(model))  # those of W1 as often as it has groups
    assert found - one_each == Counter({digits["W1"]: found[digits["W1"]] - one_each[digits["W1"]]})
    assert set(digits.values()) == {2, 3}


#: Words of features with which reducing takes long, and with which updating does.
MANY, FEW = 10**9, 1


def portions(config, *widths, words=MANY):
    """The planned portions of a network: name to (group, first reduction row, rows)."""
    plan = plan_reductions(Network.of_widths(list(widths)), config, words)
    return {name: [(portion.reduction_group, portion.first_row, portion.rows) for portion in parts]
            for name, parts in plan.items()}


def test_the_last_group_is_small():
    """Four cores, P = 4: eight panels of W1 go with all else, and two are left to the end."""
    config = Config(dimensions=2, lanes=4)
    assert portions(config, 16, 40, 3) == {
        "b2": [(0, 0, range(1))], "W2": [(0, 4, range(40))], "b1": [(0, 44, range(10))],
        "W1": [(0, 56, range(144)), (1, 0, range(144, 160))]}


def test_long_updates_are_spread():
    """W1 begins a group of its own, and is reduced in three, of which the last two have less."""
    config = Config(dimensions=2, lanes=4)
    assert portions(config, 16, 40, 3, words=FEW)["W1"] == [
        (1, 0, range(96)), (2, 0, range(96, 144)), (3, 0, range(144, 160))]
    # 640 cycles for 160 rows on four cores: a quarter of what 10 panels of 64 words take.
    assert portions(config, 16, 40, 3, words=63) != portions(config, 16, 40, 3, words=64)


@given(dimensions=st.integers(0, 5), lanes=st.sampled_from((2, 4, 8, 16)),
       widths=st.lists(st.integers(1, 90), min_size=2, max_size=4))
def test_portions_are_whole_rows_of_all_cores(dimensions, lanes, widths):
    """Wherever a panel ends: the owner of a row is its number modulo the cores."""
    config = Config(dimensions=dimensions, lanes=lanes, accumulator_rows=64)
    for number, (inputs, outputs) in enumerate(pairwise(widths), 1):
        tiles, panels = -(-inputs // lanes), -(-outputs // lanes)
        for name, count in ((f"W{number}", panels * tiles * lanes), (f"b{number}", panels)):
            parts = portions(config, *widths)[name]
            assert [row for _, _, rows in parts for row in rows] == list(range(count))
            for _, first, rows in parts:
                assert rows.start % config.cores == first % config.cores == 0
                assert first + len(rows) <= config.accumulator_rows * config.cores


def test_groups_fill_the_accumulators():
    """One core with 16 rows of accumulators: a parameter is cut at whole tiles."""
    config = Config(dimensions=0, lanes=4, planes=1, accumulator_rows=16)
    assert portions(config, 30, 3) == {
        "b1": [(0, 0, range(1))],
        "W1": [(1, 0, range(16)), (2, 0, range(16, 28)), (3, 0, range(28, 32))]}


@given(dimensions=st.integers(0, 4), lanes=st.sampled_from((2, 4, 8)),
       rows=st.sampled_from((16, 64)), words=st.sampled_from((MANY, FEW)),
       widths=st.lists(st.integers(1, 90), min_size=2, max_size=4))
def test_a_group_is_as_large_as_fits(dimensions, lanes, rows, words, widths):
    """Parameters follow each other from the last layer on; a group ends where less than a panel
    would fit, or in front of what of W1 is left to the last one, or two: that many hundredths of it
    at most, in whole panels if that has some.
    """
    config = Config(dimensions=dimensions, lanes=lanes, planes=1, accumulator_rows=rows)
    unit, capacity = max(lanes, config.cores), rows * config.cores
    plan, group, used = portions(config, *widths, words=words), 0, 0
    assert list(plan) == [f"{kind}{number}" for number in range(len(widths) - 1, 0, -1)
                          for kind in "bW"]
    for name, parts in plan.items():
        inputs, outputs = widths[int(name[1]) - 1:int(name[1]) + 1]
        height = 1 if name[0] == "b" else -(-inputs // lanes) * lanes
        count = -(-outputs // lanes) * height
        ends = {count}
        for share in ((45, 15) if words == FEW else (15,)) if name == "W1" else ():
            most = count * share // 100
            step = math.lcm(height, unit) if most >= math.lcm(height, unit) else unit
            ends |= {count - rest for rest in range(most + 1) if (count - rest) % step == 0
                     and not any((count - more) % step == 0 for more in range(rest + 1, most + 1))}
        begins = ends | ({0} if name == "W1" and words == FEW else set())
        for number, first, part in parts:
            end = min(end for end in ends if end > part.start)
            left, free = end - part.start, (capacity - used) // unit * unit
            if used and (free < min(left, height) or part.start in begins):
                group, used, free = group + 1, 0, capacity // unit * unit
            assert (number, first, len(part)) == (group, used, min(left, free))
            used += -(-len(part) // config.cores) * config.cores


@pytest.mark.parametrize("name", ["plain", "one core", "sixteen cores", "two bypassed panels"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
