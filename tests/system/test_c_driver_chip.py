# SPDX-License-Identifier: BSD-2-Clause
"""A whole training by the C driver on the simulated chip gives the reference's bits."""

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from hypercast import Device, Graph, Model, Trainer
from hypercast.host.cli import main
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.eda.integration.c_header import c_header
from hypercast.host.runtime.image import write_image
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.metrics import Metrics
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Split
from hypercast.rtl.registers import COUNTERS
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.examples.c_driver import SOURCES, CDriver, compile_c
from tests.system.chips import CHIPS, GraphTraining, random_graph

_INDEX = {name: index for index, name in enumerate(COUNTERS)}


def metrics(driver, sizes):
    """Loss and hits of the last program, as the counters have them."""
    loss, correct, wrong = np.zeros((3, 4), dtype=np.int64)
    for split in (Split.TRAIN, Split.VALIDATION, Split.TEST):
        name = split.name.lower()
        loss[split] = driver.counter(_INDEX[f"loss_{name}"]) + (
            driver.counter(_INDEX[f"loss_{name}_high"]) << 32)
        correct[split] = driver.counter(_INDEX[f"correct_{name}"])
        wrong[split] = driver.counter(_INDEX[f"wrong_{name}"])
    return Metrics(loss=loss, correct=correct, wrong=wrong, vertices=sizes)


@pytest.mark.parametrize("name", ["narrow", "wide"])
def test_training(name, tmp_path):
    config = CHIPS[name]
    training = GraphTraining(graph=random_graph(24, 60), config=config, hidden=(4,), dropout=0.3,
                             epochs=5, recipe={"schedule": ((2, 0.5),), "seed": 5,
                                               "learning_rates": (200.0,)})
    model = training.model()
    path = tmp_path / "job.image"
    write_image(path, compile_job(model, config), model)
    oracle = FixedGnn(model)
    transport = CxxrtlTransport(config)
    driver = CDriver(tmp_path, config, transport)
    driver.load(path.read_bytes())
    raised = 0
    for _ in range(driver.steps()):
        driver.train()
        assert driver.cycles() > 0
        expected = oracle.train_step()
        found = metrics(driver, expected.vertices)
        assert np.array_equal(found.loss[1:], expected.loss[1:])
        assert np.array_equal(found.correct[1:], expected.correct[1:])
        raised += len(oracle.rules.momentum_exponents.raised)
    assert raised
    names = [f"{kind}{layer}" for layer in (1, 2) for kind in "Wb"]
    for (elements, exponent), parameter in zip(driver.parameters(), names, strict=True):
        assert np.array_equal(elements, np.atleast_2d(oracle.tensors[parameter])), parameter
        assert exponent == dict(oracle.exponents.items())[parameter]
    transport.close()


def test_karate_through_a_pseudo_terminal(tmp_path):
    """The example program, with what the command line makes for it, on what it simulates."""
    (tmp_path / "hypercast.h").write_text(c_header(PRESETS["tiny"]))
    program = compile_c(tmp_path / "train", *sorted(SOURCES.glob("*.c")))
    image, trained = tmp_path / "karate.image", tmp_path / "parameters"
    result = CliRunner().invoke(main, [
        "train", "karate", "--preset", "tiny", "--hidden", "2", "--epochs", "3",
        "--image", str(image)])
    assert result.exit_code == 0, result.output
    code = "from hypercast.host.cli import main; main()"
    simulation = subprocess.Popen(
        [sys.executable, "-c", code, "simulate", "--pty", "--preset", "tiny", "--json"],
        stdout=subprocess.PIPE, text=True)
    try:
        device = json.loads(simulation.stdout.readline())["device"]
        said = subprocess.run([program, device, image, trained], capture_output=True, text=True,
                              timeout=500)
    finally:
        simulation.terminate()
        simulation.communicate(timeout=60)
    assert said.returncode == 0, said.stderr
    with Trainer(Graph.load("karate"), Model(hidden=2), Device(preset="tiny"),
                 epochs=3) as trainer:
        trainer.fit()
        tensors, exponents = trainer.target.oracle.tensors, trainer.target.exponents()
        for line, name in zip(trained.read_text().splitlines(), ["W1", "b1", "W2", "b2"],
                              strict=True):
            rows, columns, exponent, *elements = map(int, line.split())
            assert np.array_equal(np.reshape(elements, (rows, columns)),
                                  np.atleast_2d(tensors[name])), name
            assert exponent == exponents[name]
