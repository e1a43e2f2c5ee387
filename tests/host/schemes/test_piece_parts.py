# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a piece run in order; rows of others come before the parts that need them."""

import pytest

from hypercast.host.compiler.piece_program import BACKWARD, EVALUATE, FORWARD
from hypercast.host.schemes.piece_parts import run_parts


class Told:
    """Pieces, and the chip that runs them: keeps what is done."""

    PARTS = {FORWARD: [("a", None), ("b", "T1"), ("c", None)], BACKWARD: [("d", "DZ2")],
             EVALUATE: [("e", "T1"), ("f", "T2")]}

    def __init__(self):
        self.done = []

    def parts(self, piece):
        return self.PARTS[piece]

    def run_entry(self, entry, *, training):
        self.done.append((entry, training))
        return f"metrics of {entry}", len(self.done)


@pytest.mark.parametrize(("piece", "done", "found"), [
    (FORWARD, [("a", True), (1, "T1"), ("b", True), ("c", True)], ("metrics of c", 1 + 3 + 4)),
    (BACKWARD, [(0, "DZ2"), ("d", True)], ("metrics of d", 2)),
    (EVALUATE, [(0, "T1"), ("e", False), (1, "T2"), ("f", False)], ("metrics of f", 2 + 4))])
def test_parts(piece, done, found):
    told = Told()
    assert run_parts(told, told, piece, lambda *part: told.done.append(part)) == found
    assert told.done == done
