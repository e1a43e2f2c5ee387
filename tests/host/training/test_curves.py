# SPDX-License-Identifier: BSD-2-Clause
"""Curves show what records say."""

import math

import numpy as np
import pytest

from hypercast import Graph, Model, Trainer
from hypercast.host.training.curves import Curves


@pytest.mark.parametrize(("source", "score"), [("karate", "accuracy"), ("communities", "micro F1")])
def test_curves_have_the_values_of_the_records(source, score):
    with Trainer(Graph.load(source), Model(hidden=4), epochs=3) as trainer:
        with pytest.raises(ValueError, match="nothing to plot before the first epoch; train"):
            trainer.plot()
        history = trainer.fit()
        figure = trainer.plot()
    loss, scores = figure.axes
    assert scores.get_title() == score
    lines = {line.get_label(): line for line in loss.get_lines()}
    assert {*lines} == {"training, with dropout", "training", "validation", "test"}
    assert lines["test"].get_xdata().tolist() == [1, 2, 3]
    np.testing.assert_equal([*lines["test"].get_ydata()],
                            [record["test_loss"] for record in history])
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_what_is_not_known_is_not_drawn():
    records = [{"epoch": epoch, "training_loss": 1.0, "train_loss": 1.0, "train_accuracy": 0.5,
                "validation_loss": None, "validation_accuracy": None,
                "test_loss": None if epoch else 2.0, "test_accuracy": None} for epoch in (0, 1)]
    loss, score = Curves(records).axes
    assert [line.get_label() for line in loss.get_lines()] == [
        "training, with dropout", "training", "test"]
    assert math.isnan(loss.get_lines()[-1].get_ydata()[1])
    assert [line.get_label() for line in score.get_lines()] == ["training"]
