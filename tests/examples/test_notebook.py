# SPDX-License-Identifier: BSD-2-Clause
"""The example notebook runs, and its cells show what people read at a glance."""

import re

import nbformat
import pytest
from nbclient import NotebookClient

from tests.packaging.source_tree import ROOT

NOTEBOOK = ROOT / "examples" / "karate.ipynb"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell gives, by its source: its displays, and its value last."""
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3",
                   resources={"metadata": {"path": str(folder)}}).execute()
    assert (folder / "karate.safetensors").exists()
    return {cell.source.splitlines()[-1]: cell.outputs for cell in notebook.cells
            if cell.cell_type == "code"}


def test_it_is_kept_without_outputs():
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert cell.cell_type == "markdown" or (not cell.outputs and cell.execution_count is None)


def value(outputs, source):
    [*_, last] = outputs[source]
    assert last.output_type == "execute_result"
    return last.data


def test_values_are_short(outputs):
    assert value(outputs, "graph")["text/plain"] == (
        "Graph(vertices=34, edges=156, features=34, classes=2, train=4, validation=8, test=22)")
    history = value(outputs, "trainer.fit()")
    assert re.fullmatch(r"History\(60 epochs; the last one: training loss [\d.e-]+, .*\)",
                        history["text/plain"])
    assert history["text/html"].count("<tr>") == 7
    assert value(outputs, "trainer.predict()")["text/html"].startswith("<table>")
    assert float(value(outputs, 'trainer.evaluate()["test_accuracy"]')["text/plain"]) > 0.8
    for line in value(outputs, "trainer.numbers()")["text/plain"].splitlines():
        assert re.match(r"[\[ ]TensorNumbers\(\S+: exponent=.*\)[,\]]$", line)


def test_the_last_epoch_is_shown_while_it_trains(outputs):
    [line, _] = outputs["trainer.fit()"]
    assert line.output_type == "display_data"
    assert re.fullmatch(r"epoch 60 of 60: training loss [\d.e-]+, .*%", line.data["text/plain"])


def test_curves_are_a_picture(outputs):
    [picture] = outputs["trainer.plot()"]  # once
    assert len(picture.data["image/png"]) > 10_000


def test_nothing_else_is_printed(outputs):
    assert not outputs["trainer.close()"]
    assert not [output for cell in outputs.values() for output in cell
                if output.output_type in ("stream", "error")]
