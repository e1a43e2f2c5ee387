# SPDX-License-Identifier: BSD-2-Clause
"""Phases as values and as text."""

import pytest

from hypercast.host.compiler.phase_name import PhaseKind, PhaseName


@pytest.mark.parametrize(("name", "text"), [
    (PhaseName(PhaseKind.FORWARD, 1), "forward 1"), (PhaseName(PhaseKind.LOSS), "loss"),
    (PhaseName(PhaseKind.UPDATE, 12), "update 12"), (PhaseName(PhaseKind.UPDATE), "update"),
    (PhaseName(PhaseKind.EVALUATE), "evaluate"), (PhaseName(PhaseKind.BACKWARD, 2), "backward 2"),
    (PhaseName(PhaseKind.FORWARD, 5, 8), "forward 5-8")])
def test_text(name, text):
    assert str(name) == text
    assert PhaseName.read(text) == name


@pytest.mark.parametrize("text", [
    "", "forward ", "forward 0", "forward 01", "forward 1 ", "forwards", "1", "forward -1",
    "forward ١", "Forward 1", "forward\n",
    "forward 2-2", "forward 3-2", "forward 1-", "forward 1-02", "loss-2"])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match="is no phase of a program"):
        PhaseName.read(text)
