# SPDX-License-Identifier: BSD-2-Clause
"""Layouts: the hardware's view of an instruction is the encoder's, flits hold what they must."""

from functools import partial

import pytest
from amaranth.hdl import Const, Shape, Value
from hypothesis import given
from hypothesis import strategies as st

from hypercast.rtl import isa
from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.layouts import (
    BEAT_WIDTH,
    CONTROL,
    OPERANDS,
    AccumulatorPort,
    Channel,
    FlitKind,
    HostRequest,
    Issue,
    Link,
    ReadPort,
    WeightPort,
    WritePort,
    accumulator_row,
    bulk_request,
    bulk_width,
    flit,
    send_record,
)
from hypercast.rtl.registers import Space
from tests.rtl.test_isa import instructions

SHAPES = [Config(dimensions=dimensions, lanes=lanes, planes=planes, element_width=width)
          for dimensions in (0, 3, 6) for lanes in (2, 16) for planes in (1, 4)
          for width in (8, 16)]
SIGNATURES = [partial(AccumulatorPort, rows=16), Channel, Link, ReadPort, WeightPort, WritePort]


@given(instructions())
def test_operands_are_where_encode_puts_them(instruction):
    opcode, fields = instruction
    word = isa.encode(opcode, **fields)
    view = OPERANDS[opcode].from_bits(word)
    assert {name: view[name] for name in fields} == fields
    assert view["opcode"] == CONTROL.from_bits(word & (1 << CONTROL.size) - 1)["opcode"] == opcode


@pytest.mark.parametrize("opcode", isa.Opcode)
def test_instructions_are_all_as_wide(opcode):
    assert OPERANDS[opcode].size == isa.INSTRUCTION_WIDTH


@given(instructions(), st.integers(-128, 127))
def test_issue_views_its_instruction(instruction, aux_shift):
    opcode, fields = instruction
    issue = Issue.from_bits(Const.cast(Issue.const({
        "instruction": isa.encode(opcode, **fields), "aux_shift": aux_shift})).value)
    assert issue.aux_shift == aux_shift
    assert issue.instruction == isa.encode(opcode, **fields)


@pytest.mark.parametrize("config", SHAPES, ids=str)
def test_a_send_record_is_as_wide_as_the_compiler_writes_it(config):
    layout = send_record(config)
    assert layout.size == config.send_record_width
    assert [layout[name].offset for name in ("destinations", "plane", "skip")] == [
        0, config.cores, config.cores + 2]


def test_flit_kinds_are_those_of_the_instruction_set():
    assert {kind.name: kind.value for kind in FlitKind} == {
        kind.name: kind.value for kind in isa.Kind}


@pytest.mark.parametrize("config", SHAPES, ids=str)
def test_flit_fields_hold_every_value(config):
    layout = flit(config)
    widths = {name: field.width for name, field in layout}
    assert widths["destinations"] == config.cores
    assert 1 << widths["source"] == config.cores
    assert 1 << widths["plane"] == config.planes
    assert 1 << widths["digit"] >= config.digits
    assert 1 << widths["index"] >= max(config.accumulator_rows, config.weight_rows)
    assert widths["payload"] == config.lanes * config.element_width


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_accumulator_row(config):
    layout = accumulator_row(config)
    assert layout.length == config.lanes
    assert layout.elem_shape.signed and layout.elem_shape.width == config.accumulator_width


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("config", SHAPES, ids=str)
def test_signatures_make_interfaces_that_comply(signature, config):
    description = signature(config)
    assert description.is_compliant(description.create())


@pytest.mark.parametrize("kind", SIGNATURES)
@pytest.mark.parametrize("config", SHAPES, ids=str)
def test_no_member_is_without_a_bit(config, kind):
    """Except for addresses of what there is one of only."""
    signature = kind(config)
    found = {path: len(Value.cast(value))
             for path, _, value in signature.flatten(signature.create())}
    assert all(width > 0 for width in found.values()), found


def test_a_link_has_one_valid_one_parity_and_a_credit_for_each_plane():
    for config in SHAPES:
        widths = {name: Shape.cast(member.shape).width
                  for name, member in Link(config).members.items()}
        assert widths == {"valid": 1, "flit": flit(config).size, "parity": 1,
                          "credit": config.planes}


@pytest.mark.parametrize("config", SHAPES, ids=str)
def test_requests_of_window_and_bulk_port_hold_every_access(config):
    """Accesses are of any core of the largest chip and any space, to parts of a word or all."""
    bulk = {name: field.width for name, field in bulk_request(config)}
    window = {name: field.width for name, field in HostRequest.as_shape()}
    assert bulk.pop("data") == bulk_width(config) and window.pop("data") == 32
    assert bulk.pop("bulk") == 1
    assert bulk == window and bulk["all_cores"] == bulk["write"] == 1
    assert 1 << bulk["core"] == max(one.cores for one in SHAPES)
    assert max(Space) < 1 << bulk["space"]
    words = max(config.channel_words, config.weight_rows)
    assert words * config.word_width // 32 <= 1 << bulk["address"]
    assert bulk_width(config) <= BEAT_WIDTH and config.word_width % bulk_width(config) == 0
    assert config.word_width == bulk_width(config) or bulk_width(config) == BEAT_WIDTH
