"""Names of tensors tell whose rows they have."""

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.tensors import level, of_training
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from tests.host.models import SMALL, small_model
from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize(("name", "expected"), [
    ("X", 0), ("T1", 0), ("M1", 1), ("M1.next", 1), ("H1", 1), ("mask1", 1), ("T2", 1),
    ("T2.eval", 1), ("Z2", 2), ("Z2.eval", 2), ("dZ2", 2), ("dT2", 1), ("dM2", 2), ("dT11", 10),
    ("S2", 1), ("S2.eval", 1), ("dS2", 2), ("dC1", 1),
])
def test_level(name, expected):
    assert level(name) == expected


def test_tensors_of_other_passes():
    assert [of_training(name) for name in ("M1", "M1.next", "M1.eval")] == ["M1"] * 3


@pytest.mark.parametrize("name", ["C1", "W1", "b1", "labels", "A", "T", "dX", "T1.test"])
def test_what_is_no_matrix(name):
    with pytest.raises(ValueError, match=f"{name} is no matrix of a training step"):
        level(name)


@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
def test_every_matrix_of_a_job_has_a_level(orders):
    job = compile_job(small_model(orders=orders, dropout=0.0), SMALL)
    matrices = [name for name, region in job.regions.items() if region.columns]
    assert {level(name) for name in matrices} == {0, 1, 2}
    assert {of_training(name) for name in matrices} == {
        name for name in matrices if not name.endswith(".eval")}


@pytest.mark.parametrize("name", ["plain", "jumping", "GraphSAGE", "residual"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
