# SPDX-License-Identifier: BSD-2-Clause
"""Everything that is claimed of blocks is proved."""

import pytest

from hypercast.proofs.catalogue import PROOFS
from hypercast.proofs.solver import prove


@pytest.mark.parametrize("proof", [
    pytest.param(proof, id=proof.name, marks=[pytest.mark.slow] if proof.slow else [])
    for proof in PROOFS])
def test_proof(proof, tmp_path):
    prove(proof.bench(), tmp_path, proof.cycles)


def test_no_two_have_the_same_name():
    names = [proof.name for proof in PROOFS]
    assert len(set(names)) == len(names)
