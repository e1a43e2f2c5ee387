# SPDX-License-Identifier: BSD-2-Clause
"""The solver says what is proved, and why something is not."""

import pytest
from amaranth.hdl import Assert, Assume, Module, Signal

from hypercast.proofs import solver
from hypercast.proofs.solver import COUNTEREXAMPLE, Bench, ProofFailedError, prove


def counter(*, bound=8, most=5, reach=3, assume=1):
    """A counter that is claimed to stay below a bound."""
    m = Module()
    count, go = Signal(4), Signal()
    with m.If(go):
        m.d.sync += count.eq(count + 1)
    with m.If(count == most):
        m.d.sync += count.eq(0)
    m.d.comb += [Assert(count < bound), Assume(assume)]
    return Bench(m, [go], [count == reach])


def test_induction_and_bound(tmp_path):
    assert prove(counter(bound=6), tmp_path) == 1
    assert prove(counter(), tmp_path) > 1  # states above 5 lead to one another
    assert prove(counter(bound=4), tmp_path, 4) == 4


@pytest.mark.parametrize(("changes", "cycles", "message"), [
    ({"bound": 4}, None, "an assertion can fail"),
    ({"bound": 4}, 6, "an assertion can fail"),
    ({"reach": 7}, None, "cannot be reached"),
    ({"reach": 5}, 4, "cannot be reached"),
    ({"assume": 0}, None, "cannot be reached"),
])
def test_failures(changes, cycles, message, tmp_path):
    with pytest.raises(ProofFailedError, match=message):
        prove(counter(**changes), tmp_path, cycles)
    if "fail" in message:
        assert (tmp_path / COUNTEREXAMPLE).exists()


def test_no_induction(tmp_path, monkeypatch):
    monkeypatch.setattr(solver, "_INDUCTION", 1)
    with pytest.raises(ProofFailedError, match="no induction of up to 1 cycles closes"):
        prove(counter(reach=0), tmp_path)


def test_no_end(tmp_path, monkeypatch):
    monkeypatch.setattr(solver, "_PATIENCE", 0.01)
    with pytest.raises(ProofFailedError, match=r"no end in 0\.01 seconds"):
        prove(counter(), tmp_path)
