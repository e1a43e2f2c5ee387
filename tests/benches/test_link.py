# SPDX-License-Identifier: BSD-2-Clause
"""Bench link: its verdicts, on a board that is a model and does not compute."""

import dataclasses
import random

import pytest

from hypercast.benches import link


class Board:
    cycles = 0


class Transport:
    def reset(self):
        pass


@pytest.mark.parametrize(("digest", "outcome"), [("right", "right"), ("other", "wrong")])
def test_outcomes(digest, outcome, monkeypatch):
    monkeypatch.setattr(link, "SerialTransport", lambda line, **options: Transport())
    monkeypatch.setattr(link, "AloneChip", lambda transport, job, model: None)
    monkeypatch.setattr(link, "_train", lambda device, training: digest)
    assert link._one(Board(), random.Random(1), "right")[0] == outcome


@pytest.mark.parametrize(("patience", "outcome"), [(-1, "hanging"), (100, "given up")])
def test_what_does_not_end_well(patience, outcome, monkeypatch):
    monkeypatch.setattr(link, "_PATIENCE", patience)
    monkeypatch.setattr(Board, "send", lambda self, data: None, raising=False)
    monkeypatch.setattr(Board, "receive", lambda self: b"", raising=False)
    assert link._one(Board(), random.Random(1), "right")[0] == outcome


def test_the_reference_is_not_what_it_was_before_training():
    longer = dataclasses.replace(link._SMALL, epochs=4)
    assert link._reference(link._SMALL) == link._reference(link._SMALL) != link._reference(longer)

