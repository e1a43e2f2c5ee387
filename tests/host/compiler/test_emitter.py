# SPDX-License-Identifier: BSD-2-Clause
"""Instructions of forward passes, of every kind of network."""

from types import SimpleNamespace

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.emitter import Emitter
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.weights import Weights
from hypercast.reference.tensor import Kind
from hypercast.rtl.isa import Opcode, decode
from tests.host.models import SMALL, named_model
from tests.host.noted_programs import CASES, noted, summary

CONFIG = SMALL.replace(weight_rows=1024, channel_words=16384, program_rows=2048, tensors=64)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "form" not in case])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


@pytest.mark.parametrize(("panels", "portions"), [(None, [0, 6]), ([0], [0]), ([1], [0, 6]),
                                                ([2], [6]), ([0, 2], [0, 6]), ([], [])])
def test_portions_of_panels(panels, portions):
    """Panels of four rows in portions of six: the second panel is in both."""
    weights = Weights(name="W1", shape=(4, 6), base=0, height=4, panels=3, state=None,
                      portions=tuple(SimpleNamespace(rows=range(first, first + 6))
                                   for first in (0, 6)))
    assert Emitter._weights(weights, panels) == [("weights", "W1", first) for first in portions]


def test_weights_that_share_an_exponent_are_not_updated_while_it_is_used():
    job = compile_job(named_model("sage", hidden=(4, 4)), CONFIG)
    program = list(map(decode, job.instructions("train")))
    for number in (1, 2, 3):
        entry = job.tensors[f"W{number}"]
        used = [row for row, one in enumerate(program)
                if one["opcode"] == Opcode.DRAIN and one["b"] == entry]
        updates = [row for row, one in enumerate(program)
                   if one["opcode"] == Opcode.UPDATE and one["o"] == entry]
        assert len(updates) >= 2 and max(used) < min(updates)


@pytest.mark.parametrize("name", ["gcn", "sage"])
def test_products_keep_their_weights_exponents(name, monkeypatch):
    """An UPDATE of any weights that share the exponent waits for the DRAIN, whatever the order."""
    noted, add = [], Schedule.add

    def note(schedule, opcode, *fields, **others):
        noted.append((opcode, dict(*fields) | others, others))
        return add(schedule, opcode, *fields, **others)

    monkeypatch.setattr(Schedule, "add", note)
    model = named_model(name, hidden=(4, 4))
    job, drains = compile_job(model, CONFIG), 0
    for opcode, fields, names in noted:
        sharing = {weights for weights in job.weights
                   if weights.kind != Kind.BIAS
                   and fields.get("b") == job.tensors[model.network.exponent_entry(weights)]}
        if opcode == Opcode.DRAIN and sharing:
            drains += 1
            assert sharing <= {one[1] for one in names["reads"] if one[0] == "weights"}, fields
    assert drains >= 9
