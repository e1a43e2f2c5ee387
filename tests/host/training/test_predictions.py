# SPDX-License-Identifier: BSD-2-Clause
"""Predictions in files: whole ones, or the old ones."""

import errno
import os

import numpy as np
import pytest

from hypercast.host.training.predictions import Predictions

LOGITS = np.array([[0.5, -1.0], [-2.0, 3.0], [1.0, 0.25]])


def test_a_line_or_a_row_for_each_vertex(tmp_path):
    Predictions.of_logits(LOGITS).save(tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_bytes().decode() == (
        "vertex,classes,logit 0,logit 1\r\n0,0,0.5,-1.0\r\n1,1,-2.0,3.0\r\n2,0,1.0,0.25\r\n")
    Predictions.of_logits(LOGITS, several=True).save(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as found:
        assert found["logits"].tolist() == LOGITS.tolist()
        assert found["classes"].tolist() == (LOGITS > 0).tolist()


@pytest.mark.parametrize("name", ["p.csv", "p.npz"])
def test_an_older_file_stays_if_the_new_one_cannot_be_written(name, tmp_path, monkeypatch):
    path = tmp_path / name
    Predictions.of_logits(LOGITS).save(path)
    before = path.read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as found:
        Predictions.of_logits(LOGITS + 1).save(path)
    assert found.value.filename == str(path) and path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_other_names(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.npz or \.csv"):
        Predictions.of_logits(LOGITS).save(tmp_path / "p.txt")
