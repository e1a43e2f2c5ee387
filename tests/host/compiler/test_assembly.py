# SPDX-License-Identifier: BSD-2-Clause
"""What programs of all kinds are put together from: exponents, their numbers, first constants."""

import pytest

from hypercast.host.compiler.assembly import initial_exponents, number_entries, updates_at
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.evaluation import compile_evaluation
from hypercast.host.compiler.layout import NEXT_ENTRIES
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.pieces import compile_pieces
from hypercast.reference.tensor import EDGES, FEATURES
from tests.host.models import SMALL, small_model


def test_exponents_are_those_of_the_state_and_of_the_sample():
    model = small_model()
    found = initial_exponents(model)
    assert (found[EDGES], found[FEATURES]) == (
        model.sample.edge_exponent, model.sample.features.exponent)
    assert {name: value for name, value in found.items() if name not in (EDGES, FEATURES)} == {
        name: exponent for name, (exponent, _) in model.state.exponents.items()
        if name not in (EDGES, FEATURES)}
    following = initial_exponents(small_model(orders="aggregate_first", dropout=0.0), NEXT_ENTRIES)
    for name in NEXT_ENTRIES:
        assert following[name] == following[name.of_training]


def test_too_many_entries():
    entries = initial_exponents(small_model())
    assert list(number_entries(entries, SMALL).values()) == list(range(len(entries)))
    with pytest.raises(CapacityError, match=f"tensors is 8, but {len(entries)} are needed"):
        number_entries(entries, SMALL.replace(tensors=8))


def test_programs_have_the_constants_of_the_first_step():
    model = small_model(config=SMALL.replace(program_rows=512))
    config = SMALL.replace(program_rows=512)
    for job in (compile_job(model, config), compile_pieces(model, config).job):
        updates = list(updates_at(job, model.rules(), 0))
        assert updates
        assert all(job.program[row] == word for row, word in updates)
    assert not any(part.job.updates for part in compile_evaluation(model, config))
