# SPDX-License-Identifier: BSD-2-Clause
"""Instruction encoding: round trips, refusals, and fields that do not overlap."""

import enum
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.rtl import isa
from hypercast.rtl.access import Mode, Store
from hypercast.rtl.config import INTERFACE_VERSION
from hypercast.rtl.isa import HEADER, INSTRUCTION_WIDTH, OPERANDS, Engine, Opcode, decode, encode
from hypercast.rtl.registers import PHASES


def _range(width):
    size = abs(width)
    return (-(1 << size - 1), (1 << size - 1) - 1) if width < 0 else (0, (1 << size) - 1)


@st.composite
def instructions(draw):
    opcode = draw(st.sampled_from(Opcode))
    fields = {name: draw(st.integers(*_range(width)))
              for name, width in (*HEADER[1:], *OPERANDS[opcode])}
    return opcode, fields


@given(instructions())
def test_decode_inverts_encode(instruction):
    opcode, fields = instruction
    word = encode(opcode, **fields)
    assert 0 <= word < 1 << INSTRUCTION_WIDTH
    assert decode(word) == {"opcode": opcode, **fields}


@pytest.mark.parametrize("opcode", Opcode)
def test_fields_do_not_overlap(opcode):
    """Each field alone sets its own bits; together they are the bits of all."""
    seen = 0
    for name, width in (*HEADER[1:], *OPERANDS[opcode]):
        ones = encode(opcode, **{name: -1 if width < 0 else (1 << width) - 1}) & ~0xF
        assert ones.bit_count() == abs(width), name
        assert not ones & seen, name
        seen |= ones


@pytest.mark.parametrize("opcode", Opcode)
def test_what_is_not_named_is_zero(opcode):
    assert encode(opcode) == opcode
    fields = decode(opcode)
    assert fields.pop("opcode") is opcode
    assert not any(fields.values())


@pytest.mark.parametrize("opcode, name, value, limits", [
    (opcode, name, value, _range(width))
    for opcode in Opcode for name, width in (*HEADER[1:], *OPERANDS[opcode])
    for value in (_range(width)[0] - 1, _range(width)[1] + 1)])
def test_refuses_what_does_not_fit(opcode, name, value, limits):
    low, high = limits
    with pytest.raises(
            ValueError, match=rf"^{opcode.name} field {name} must be {low} to {high}, not {value}"):
        encode(opcode, **{name: value})


def test_refuses_unknown_fields():
    with pytest.raises(ValueError, match=r"^HALT has no field address, rows$"):
        encode(Opcode.HALT, address=0, rows=1)


def test_refuses_unknown_opcodes():
    with pytest.raises(ValueError, match="15 is not a valid Opcode"):
        decode(0xF)


def test_header():
    assert HEADER[0][0] == "opcode"
    assert max(Opcode) < 1 << dict(HEADER)["opcode"]
    assert PHASES == 1 << dict(HEADER)["phase"]


@pytest.mark.parametrize(("opcode", "busy", "adds"), [
    (Opcode.HALT, [], False), (Opcode.AGGREGATE, [Engine.AGGREGATE], True),
    (Opcode.MATMUL, [Engine.ARRAY], True),
    (Opcode.GRADIENT, [Engine.ARRAY, Engine.REDUCTION], True),
    (Opcode.DRAIN, [Engine.VECTOR], False), (Opcode.LOSS, [Engine.VECTOR], False),
    (Opcode.UPDATE, [Engine.VECTOR, Engine.WEIGHTS], False)])
def test_engines(opcode, busy, adds):
    """The first one carries the opcode out."""
    operation = isa.OPERATIONS[opcode]
    assert (list(operation.busy), operation.adds) == (busy, adds)
    assert {engine for engine in Engine if opcode in isa.opcodes_of(engine)} == {*busy}
    if busy:
        assert isa.engine_of(opcode) == busy[0]


def test_every_opcode_is_in_the_table():
    assert list(isa.OPERATIONS) == list(Opcode)


def test_every_place_is_an_operand():
    """Addresses and places in on-chip memory say what they are for; all else named exists."""
    others = {"stride", "weight_stride", "operand_stride", "row_start", "rows"}
    for opcode, operation in isa.OPERATIONS.items():
        widths = dict(operation.operands)
        fields = {access.field for access in operation.accesses} - {""}
        named = {name for access in (*operation.accesses, *operation.subjects)
                 for name in (*access.when, access.channel) if isinstance(name, str)}
        assert fields | named <= set(widths), opcode
        places = {name for name, width in widths.items()
                  if width in (isa.ADDRESS_WIDTH, isa.ROWS_WIDTH) or name.endswith("_base")}
        assert places - others <= fields, opcode


@pytest.mark.parametrize(("opcode", "fields", "used"), [
    (Opcode.HALT, {}, set()),
    (Opcode.AGGREGATE, {"prefetch": 1}, {("edge_set", Mode.READ)}),
    (Opcode.AGGREGATE, {"bypassed": 1}, {
        ("edge_set", Mode.READ), ("send_list", Mode.READ), ("bypass_base", Mode.READ),
        ("", Mode.ADD)}),
    (Opcode.AGGREGATE, {}, {
        ("edge_set", Mode.READ), ("send_list", Mode.READ), ("address", Mode.READ),
        ("", Mode.ADD)}),
    (Opcode.AGGREGATE, {"indexed": 1}, {
        ("edge_set", Mode.READ), ("send_list", Mode.READ), ("address", Mode.READ),
        ("", Mode.ADD)}),
    (Opcode.AGGREGATE, {"indexed": 1, "prefetch": 1}, {("edge_set", Mode.READ)}),
    (Opcode.MATMUL, {"operand": 1, "sparse": 1}, {
        ("address", Mode.READ), ("operand_base", Mode.WRITE), ("weights", Mode.READ),
        ("", Mode.ADD)}),
    (Opcode.MATMUL, {"operand": 2}, {
        ("operand_base", Mode.READ), ("weights", Mode.READ), ("", Mode.ADD)}),
    (Opcode.MATMUL, {"operand": 2, "dropout": 1, "ranked": 1}, {
        ("operand_base", Mode.READ), ("ranks", Mode.READ), ("weights", Mode.READ), ("", Mode.ADD)}),
    (Opcode.MATMUL, {"operand": 2, "ranked": 1}, {
        ("operand_base", Mode.READ), ("weights", Mode.READ), ("", Mode.ADD)}),
    (Opcode.GRADIENT, {"ones": 1, "bypassed": 1}, {
        ("first_row", Mode.ADD), ("bypass_base", Mode.READ)}),
    (Opcode.GRADIENT, {"sums": 1, "operand": 3}, {
        ("first_row", Mode.ADD), ("sums_row", Mode.ADD), ("gradient_address", Mode.READ),
        ("address", Mode.READ)}),
    (Opcode.DRAIN, {"bypass": 5, "mask_read": 1}, {
        ("", Mode.TAKE), ("address", Mode.WRITE), ("mask_address", Mode.READ),
        ("left_base", Mode.WRITE), ("send_base", Mode.WRITE)}),
    (Opcode.DRAIN, {"source": 1, "dropout": 1, "ranked": 1, "mask_write": 1}, {
        ("", Mode.TAKE), ("address", Mode.WRITE), ("mask_address", Mode.WRITE),
        ("ranks", Mode.READ)}),
    (Opcode.LOSS, {"bypass": 2}, {("address", Mode.READ), ("info", Mode.READ)}),
    (Opcode.LOSS, {"bypass": 2, "train": 1}, {
        ("address", Mode.READ), ("info", Mode.READ), ("destination", Mode.WRITE),
        ("right_base", Mode.WRITE)}),
    (Opcode.UPDATE, {}, {
        ("first_row", Mode.TAKE), ("weights", Mode.WRITE), ("state", Mode.CHANGE)}),
    (Opcode.UPDATE, {"keep": 1}, {("first_row", Mode.TAKE), ("state", Mode.WRITE)}),
    (Opcode.UPDATE, {"kept": 1}, {("weights", Mode.WRITE), ("state", Mode.CHANGE)}),
], ids=lambda value: "" if isinstance(value, set) else str(value))
def test_uses(opcode, fields, used):
    """As ``docs/instructions.md`` has it; the exponent file is aside."""
    found = isa.OPERATIONS[opcode].uses(decode(encode(opcode, **fields)))
    assert {(access.field, access.mode) for access in found
            if access.store != Store.EXPONENT} == used


@pytest.mark.parametrize("indexed", [0, 1])
def test_rows_of_indexed_lists_are_anywhere(indexed):
    """All others are consecutive, from the place named on."""
    for opcode, operation in isa.OPERATIONS.items():
        fields = decode(encode(opcode)) | {"indexed": indexed}
        assert [access.field for access in operation.uses(fields) if access.anywhere] == (
            ["address"] if indexed and opcode == Opcode.AGGREGATE else [])


@pytest.mark.parametrize(("opcode", "fields", "subject"), [
    (Opcode.AGGREGATE, {}, "address"), (Opcode.AGGREGATE, {"prefetch": 1}, "edge_set"),
    (Opcode.AGGREGATE, {"bypassed": 1}, "address"), (Opcode.AGGREGATE, {"indexed": 1}, "address"),
    (Opcode.MATMUL, {}, "weights"),
    (Opcode.GRADIENT, {}, "gradient_address"), (Opcode.DRAIN, {}, "o"), (Opcode.LOSS, {}, "o"),
    (Opcode.UPDATE, {}, "o")])
def test_subject(opcode, fields, subject):
    found = isa.OPERATIONS[opcode].subject(decode(encode(opcode, **fields)))
    assert found.field == subject


@pytest.mark.parametrize("opcode", Opcode)
def test_only_gradients_reduce(opcode):
    assert isa.OPERATIONS[opcode].reduces == (opcode == Opcode.GRADIENT)


@pytest.mark.parametrize(("opcode", "field", "most"), [
    (Opcode.MATMUL, "panels", (1 << 14) - 1), (Opcode.HALT, "step", 1),
    (Opcode.DRAIN, "exponent_bias", 31)])
def test_largest(opcode, field, most):
    encode(opcode, **{field: most})
    with pytest.raises(ValueError, match=field):
        encode(opcode, **{field: most + 1})
    assert isa.largest(opcode, field) == most


#: Interface version, and the digest of what `_interface` gives in it.
_DIGEST = 21, "b249b2e4f0a803c9"


def _interface():
    """All that programs are made of."""
    enums = {name: dict(value.__members__) for name, value in sorted(vars(isa).items())
             if isinstance(value, type) and issubclass(value, enum.IntEnum)
             and value is not enum.IntEnum}
    return repr([HEADER, sorted(OPERANDS.items()), INSTRUCTION_WIDTH, isa.INSTRUCTION_WORDS,
                 isa.MASTER_EXPONENT, isa.MINIMUM_EXPONENT, isa.MAXIMUM_EXPONENT,
                 [(name, sorted((key, int(value)) for key, value in members.items()))
                  for name, members in enums.items()]])


def test_the_interface_changes_with_its_version_only():
    """Compiled programs of others stay right, or are refused."""
    digest = hashlib.sha256(_interface().encode()).hexdigest()[:16]
    assert (INTERFACE_VERSION, digest) == _DIGEST, \
        "raise INTERFACE_VERSION in rtl/config.py, and note it here with the new digest"


def test_the_step_key_grows_by_the_golden_ratio():
    assert round(2**32 * (5**0.5 - 1) / 2) == isa.STEP_KEY_INCREMENT
