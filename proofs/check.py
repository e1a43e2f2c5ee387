# SPDX-License-Identifier: BSD-2-Clause
"""Checks proofs, as many at a time as there are processors."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import ProofFailedError, prepare, solve

__all__ = ["Verdict", "check"]


@dataclass(frozen=True)
class Verdict:
    """What came of a proof.

    Parameters
    ----------
    proof : Proof
        The proof.
    seconds : float
        Time of the solver.
    length : int or None
        Length of the induction, or cycles covered; None if it failed.
    error : str
        Why it failed; empty if it did not.
    """

    proof: Proof
    seconds: float
    length: int | None = None
    error: str = ""

    @property
    def proved(self) -> bool:
        """Whether the property holds."""
        return not self.error

    @property
    def method(self) -> str:
        """How it was proved, or tried."""
        if self.proof.cycles is not None:
            return f"{self.proof.cycles} cycles from reset: {self.proof.limit}"
        return "induction" if self.length is None else f"induction, k = {self.length}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        proof = self.proof
        return {"block": proof.block, "size": proof.size, "claim": proof.claim,
                "cycles": proof.cycles, "limit": proof.limit or None,
                "induction": self.length if proof.cycles is None else None,
                "seconds": round(self.seconds, 3), "proved": self.proved,
                "error": self.error or None}


def check(proofs: Iterable[Proof]) -> Iterator[Verdict]:
    """Check proofs, and yield a ``Verdict`` of each in order.

    Files of those that fail stay in a folder for temporary files, for their counterexamples.
    """
    top = Path(tempfile.mkdtemp(prefix="hypercast-verify-"))
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                yield from pool.map(_solve, proofs, _prepare(proofs, top))
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        if not any(top.iterdir()):
            top.rmdir()


def _prepare(proofs: Iterable[Proof], top: Path) -> Iterator[Path]:
    """A folder for each proof; blocks are elaborated one after the other."""
    for number, proof in enumerate(proofs):
        directory = top / str(number)
        directory.mkdir()
        prepare(proof.bench(), directory)
        yield directory


def _solve(proof: Proof, directory: Path) -> Verdict:
    start = time.perf_counter()
    try:
        length = solve(directory, proof.cycles)
    except ProofFailedError as error:
        return Verdict(proof, time.perf_counter() - start, error=str(error))
    shutil.rmtree(directory)
    return Verdict(proof, time.perf_counter() - start, length)
