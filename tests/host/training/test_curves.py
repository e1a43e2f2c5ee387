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


def records(count):
    return [{"epoch": epoch, "training_loss": 1.5, **{
        f"{split}_{what}": 0.5 for split in ("train", "validation", "test")
        for what in ("loss", "micro_f1")}} for epoch in range(count)]


@pytest.mark.parametrize(("count", "marker"), [(1, "."), (29, "."), (30, "None"), (90, "None")])
def test_few_epochs_are_marked_each(count, marker):
    for axes in Curves(records(count)).axes:
        assert {line.get_marker() for line in axes.get_lines()} == {marker}


def test_axes_of_losses_and_of_scores():
    """Both begin at 0; scores are per cent, and end a little above 1. Epochs are whole."""
    figure = Curves(records(3))
    loss, score = figure.axes
    assert (loss.get_title(), score.get_title()) == ("loss", "micro F1")
    assert (loss.get_ylabel(), score.get_ylabel()) == (
        "cross-entropy [nats]", "micro F1 of the labels predicted")
    assert loss.get_ylim()[0] == 0 and loss.get_ylim()[1] > 1.5
    assert score.get_ylim() == (0, 1.02)
    assert score.yaxis.get_major_formatter()(0.5, 0) in ("50%", "50.0%")
    figure.draw_without_rendering()
    for axes in (loss, score):
        assert axes.get_xlabel() == "epoch" and axes.get_legend() is not None
        assert all(tick == round(tick) for tick in axes.get_xticks())
    first, second = loss.get_position(), score.get_position()
    assert first.x1 <= second.x0 and first.y0 == pytest.approx(second.y0)
