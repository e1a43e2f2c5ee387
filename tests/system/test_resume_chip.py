# SPDX-License-Identifier: BSD-2-Clause
"""A training goes on with the same bits on the chip, on the reference, and across the two."""

import numpy as np
import pytest

from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.trainer import Trainer
from tests.system.chips import NARROW, WIDE

EPOCHS = 6


#: On each chip; operands of the second one share exponents.
MODELS = {NARROW: Model(hidden=5), WIDE: Model("sage", layers=2, hidden=5, jumping=True)}
#: So fast that exponents of momenta are raised.
OPTIMISERS = {NARROW: {"optimiser": "sgd", "learning_rate": 100.0, "schedule": ((3, 0.5),)},
              WIDE: {"optimiser": "adam", "learning_rate": 0.01,
                     "schedule": ((1, 100.0), (3, 50.0))}}


def training(device, config, **options):
    return Trainer(Graph.load("karate"), MODELS[config], Device(device, **config.to_dict()),
                   epochs=EPOCHS, seed=2, **OPTIMISERS[config], **options)


@pytest.fixture(scope="module", params=MODELS, ids=["narrow, gcn, sgd", "wide, sage, adam"])
def whole(request):
    """A configuration, and the uninterrupted training's final state, record and logits."""
    with training("reference", request.param) as trainer:
        first = trainer.target.state().momentum_exponents
        trainer.fit()
        assert trainer.target.state().momentum_exponents != first
        return request.param, trainer.target.state(), trainer.final, trainer.predict().logits


@pytest.mark.parametrize(("first", "second"), [
    ("rtl", "rtl"), ("rtl", "reference"), ("reference", "rtl")])
def test_resuming(tmp_path, whole, first, second):
    config, expected, record, logits = whole
    with training(first, config, run=tmp_path) as trainer:
        for _ in range(4):
            trainer.step()
    with training(second, config, run=tmp_path, resume=True, check=True) as trainer:
        assert trainer.epoch == 4
        trainer.fit()
        assert trainer.words.words and trainer.words.equal == trainer.words.words
        found = trainer.target.state()
        for name, arrays in expected.parameters.items():
            for kind, values in arrays.items():
                assert np.array_equal(values, found.parameters[name][kind]), f"{name}.{kind}"
        assert found.exponents == expected.exponents
        assert found.momentum_exponents == expected.momentum_exponents
        assert {name: trainer.final[name] for name in record} == record
        assert np.array_equal(trainer.predict().logits, logits)
        if first == second == "rtl":
            cycles = [row["train_cycles"] for row in trainer.history]
            # Arbiters begin a step as the last one left them.
            np.testing.assert_allclose(np.diff(cycles), cycles[0], rtol=0.01)
