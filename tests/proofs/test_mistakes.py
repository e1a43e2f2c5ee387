# SPDX-License-Identifier: BSD-2-Clause
"""The proofs can fail: each claim is refuted by a counterexample when its block has a mistake."""

import pytest

from hypercast.proofs.catalogue import PROOFS
from hypercast.proofs.solver import COUNTEREXAMPLE, ProofFailedError, prove
from tests.proofs.mistakes import MISTAKES

#: Cycles from reset within which mistakes are found where a proof has no bound of its own.
CYCLES = 16


@pytest.mark.parametrize("mistake", [
    pytest.param(mistake, id=f"{mistake.block}: {mistake.new}",
                 marks=[pytest.mark.slow] if mistake.slow else []) for mistake in MISTAKES])
def test_a_mistake_is_found(mistake, monkeypatch, tmp_path):
    mistake.put_in(monkeypatch)
    assert mistake.proofs
    for number, proof in enumerate(mistake.proofs):
        directory = tmp_path / str(number)
        directory.mkdir()
        try:
            prove(proof.bench(), directory, proof.cycles or CYCLES)
        except ProofFailedError as error:
            assert "an assertion can fail" in str(error), error
            assert (directory / COUNTEREXAMPLE).exists()
            return
    pytest.fail("every proof of it still holds")


def test_every_claim_has_a_mistake():
    refuted = {(proof.block, proof.claim) for mistake in MISTAKES for proof in mistake.proofs}
    assert {(proof.block, proof.claim) for proof in PROOFS} - refuted == set()
