# SPDX-License-Identifier: BSD-2-Clause
"""Faults of links: numbered as the harnesses number them, and only of links and bits there are."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.errors import InputError
from hypercast.sim.faults import Fault, FaultKind, fault_record
from tests.packaging.source_tree import ROOT


@pytest.mark.parametrize("harness", ["chip_harness.cpp", "network_harness.cpp"])
def test_kinds_are_those_of_the_harnesses(harness):
    [names] = re.findall(r"enum FaultKind : uint32_t \{ (.*) \};",
                         (ROOT / "sim" / harness).read_text())
    assert {f"k{kind.name.title().replace('_', '')}": kind.value for kind in FaultKind} == {
        name: number for number, name in enumerate(names.split(", "))}


@given(st.integers(1, 6), st.integers(1, 99), st.data())
def test_a_record_is_of_a_link_and_a_bit_that_are_there(dimensions, bits, data):
    cores = 1 << dimensions
    fault = Fault(cycle=data.draw(st.integers(0, (1 << 64) - 1)),
                  core=data.draw(st.integers(0, cores - 1) | st.just(cores - 1)),
                  dimension=data.draw(st.integers(0, dimensions - 1)),
                  kind=data.draw(st.sampled_from(FaultKind)),
                  bit=data.draw(st.integers(0, bits - 1) | st.just(bits - 1)))
    record = fault_record(fault, dimensions, bits)
    assert {name: getattr(record, name) for name, _ in record._fields_} == vars(fault)


@pytest.mark.parametrize(("changes", "message"), [
    ({"core": 8}, "no link of core 8 along dimension 0 in a network of 3 dimensions"),
    ({"core": -1}, "no link of core -1 along"), ({"dimension": 3}, "along dimension 3 in"),
    ({"dimension": -1}, "along dimension -1 in"), ({"bit": 20}, "bit must be 0 to 19, not 20"),
    ({"bit": -1}, "bit must be 0 to 19, not -1")])
def test_what_is_not_there_is_refused(changes, message):
    fault = Fault(**{"cycle": 0, "core": 0, "dimension": 0, "kind": FaultKind.FLIP, **changes})
    with pytest.raises(InputError, match=message):
        fault_record(fault, 3, 20)
