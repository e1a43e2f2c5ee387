# SPDX-License-Identifier: BSD-2-Clause
"""The trainer: its records, what it keeps, early stopping, predictions."""

import json
import re

import networkx
import numpy as np
import pytest

from hypercast import Device, Graph, Model, Trainer
from hypercast.host.description.source import Source
from hypercast.host.training.checkpoint import CheckpointError
from hypercast.host.training.prepare import prepare
from hypercast.host.training.run_folder import RunError
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.rtl.isa import MASTER_EXPONENT, Split

KARATE = Graph.load("karate")
SMALL = {"epochs": 8, "seed": 1, "learning_rate": 0.2}


def trainer(**options):
    return Trainer(options.pop("graph", KARATE), Model(hidden=4), **{**SMALL, **options})


def test_reprs_are_one_line():
    source = Source(source="communities")
    with Trainer(source, Model(hidden=4), epochs=2) as found:
        assert re.fullmatch(r"Trainer\(gcn on communities of \d+ vertices, reference; "
                            r"epoch 0 of 2\)", repr(found))
        found.fit()
        assert "epoch 2 of 2, training loss" in repr(found)
        values = [source.load(), found, found.history, found.predict(), *found.numbers()]
    for value in values:
        assert "\n" not in repr(value) and len(repr(value)) < 200
        assert repr(value).startswith(f"{type(value).__name__}(")
    assert values[3]._repr_html_().count("<tr>") == 8  # a head, six vertices, and that more follow


def test_records_are_those_of_the_reference_itself():
    with trainer() as found:
        history = found.fit()
        expected = FixedGnn(prepare(KARATE, found.network, found.recipe))
        for epoch, record in enumerate(history):
            assert record["epoch"] == epoch
            assert record["training_loss"] == expected.train_step().mean_loss(Split.TRAIN)
            tested = expected.evaluate()
            assert record["test_accuracy"] == tested.accuracy(Split.TEST)
            assert record["validation_loss"] == tested.mean_loss(Split.VALIDATION)
        assert len(history) == 8 and found.finished
        assert found.saturations == expected.saturations.total()
        for name, values in found.parameters().items():
            assert np.array_equal(np.ldexp(values, -MASTER_EXPONENT), expected.masters[name])


def test_a_loop_may_be_left_and_gone_on_with():
    with trainer() as whole, trainer() as parts:
        whole.fit()
        for record in parts:
            if record["epoch"] == 2:
                break
        assert parts.epoch == 3
        assert parts.fit() == whole.history


def test_predictions_are_in_the_order_of_the_graph():
    with trainer(epochs=30) as found:
        found.fit()
        predictions = found.predict()
        right = predictions.classes == KARATE.labels
        for split in (Split.TRAIN, Split.VALIDATION, Split.TEST):
            assert np.mean(right[KARATE.splits == split]) == found.evaluate()[
                f"{split.name.lower()}_accuracy"]
        assert predictions.logits.shape == (34, 2)
        assert np.array_equal(predictions.logits.argmax(axis=1), predictions.classes)


def test_early_stopping_keeps_the_best_epoch(tmp_path):
    with trainer(epochs=60, patience=4, run=tmp_path) as found:
        history = found.fit()
        losses = [record["validation_loss"] for record in history]
        best = int(np.argmin(losses))
        assert len(history) == best + 1 + 4 < 60
        assert found.final["epoch"] == best
        assert found.evaluate()["validation_loss"] == losses[best]
        logits = found.predict().logits
    with Trainer.of_run(tmp_path, graph=KARATE) as kept:
        assert np.array_equal(kept.predict().logits, logits)


def test_early_stopping_goes_on_as_if_it_had_not_stopped(tmp_path):
    with trainer(epochs=60, patience=4, run=tmp_path) as whole:
        whole.fit()
    with trainer(epochs=60, patience=4, run=tmp_path / "parts") as parts:
        for _ in range(whole.final["epoch"] + 2):
            parts.step()
    with trainer(epochs=60, patience=4, run=tmp_path / "parts", resume=True) as resumed:
        assert resumed.fit() == whole.history
        assert resumed.evaluate() == whole.evaluate()


def test_accuracy_can_be_what_is_watched():
    with trainer(epochs=60, patience=5, monitor="validation_accuracy") as found:
        values = [record["validation_accuracy"] for record in found.fit()]
        assert found.final["epoch"] == int(np.argmax(values))


def test_a_run_of_a_bundled_graph_can_be_opened_from_its_folder_alone(tmp_path):
    with trainer(graph=Source(source="karate"), run=tmp_path) as found:
        found.fit()
        expected = found.evaluate()
    with Trainer.of_run(tmp_path) as opened:
        assert opened.evaluate() == expected
        assert opened.epoch == 8
    assert json.loads((tmp_path / "run.json").read_text())["facts"]["data set"] == "karate"


def test_a_graph_made_in_python_has_to_be_given_again(tmp_path):
    graph = Graph.from_networkx(networkx.path_graph(6), np.eye(6), [0, 1] * 3, train=range(4))
    with Trainer(graph, Model(hidden=2), run=tmp_path, epochs=2) as found:
        found.fit()
        logits = found.predict().logits
    with pytest.raises(RunError, match=r"run\.toml names no graph, as that was made in Python"):
        Trainer.of_run(tmp_path)
    with Trainer.of_run(tmp_path, graph=graph) as opened:
        assert np.array_equal(opened.predict().logits, logits)
    with pytest.raises(CheckpointError, match=r"graph\.vertices is 6 there, 34 here"):
        Trainer.of_run(tmp_path, graph=KARATE)


def test_without_a_run():
    with pytest.raises(RunError, match="holds no run"):
        Trainer.of_run("/nowhere")


@pytest.mark.parametrize(("options", "message"), [
    ({"epoch": 3}, r"\[recipe\] has no epoch; did you mean epochs"),
    ({"momentum": 2}, r"\[recipe\] momentum must be at least 0 and below 1, not 2"),
    ({"every": 0}, "every must be a whole number, at least 1, not 0"),
    ({"patience": 3, "graph": KARATE.with_splits(train=[0, 1])}, "needs vertices to validate on"),
])
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        trainer(**options)


def test_elements_of_8_bits():
    with Trainer(KARATE, Model(hidden=4), Device(elements=8), **SMALL) as found:
        assert found.recipe.element_width == 8 and found.recipe.headroom == 0
        found.fit()
