# SPDX-License-Identifier: BSD-2-Clause
"""A history is a list that is read at a glance."""

import json

import pytest

from hypercast.host.training.history import History, summary


def record(epoch, **more):
    return {"epoch": epoch, "training_loss": 1 / (epoch + 1), "validation_loss": 0.5,
            "validation_accuracy": 0.25, "saturations": 0, **more}


@pytest.mark.parametrize("epochs", [0, 1, 5, 6, 7, 400])
def test_any_length_is_a_line_and_a_small_table(epochs):
    history = History(record(epoch) for epoch in range(epochs))
    assert len(repr(history)) < 160 and "\n" not in repr(history)
    assert history == [record(epoch) for epoch in range(epochs)]
    assert json.loads(json.dumps(history)) == history
    table = history._repr_html_()
    assert table.count("<tr>") == 1 + min(epochs, 6)
    if epochs:
        assert f"<td>{epochs}</td>" in table and f"{epochs} epoch" in repr(history)


def test_what_is_not_known_is_left_out():
    assert summary(record(0)) == ("training loss 1, validation loss 0.5, "
                                  "validation accuracy 25.0%")
    several = record(1, validation_micro_f1=0.5) | {"validation_accuracy": None,
                                                    "validation_loss": None}
    assert summary(several) == "training loss 0.5, validation micro F1 50.0%"
    assert "validation loss" not in History([several])._repr_html_()
