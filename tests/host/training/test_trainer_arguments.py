# SPDX-License-Identifier: BSD-2-Clause
"""What ``Trainer`` is given: kinds of objects, and numbers of NumPy."""

import inspect

import numpy as np
import pytest

from hypercast import Device, Graph, Model, Sampling, Trainer
from hypercast.host.training.trainer_arguments import Recording

KARATE = Graph.load("karate")


@pytest.mark.parametrize(("arguments", "message"), [
    ({"graph": "karate"}, r"graph must be a Graph, not 'karate'; give Graph\.load"),
    ({"graph": None}, "graph must be a Graph, not None"),
    ({"model": "gcn"}, r"model must be a Model, not 'gcn'; give Model\(hidden=16\)"),
    ({"device": "rtl"}, r"""device must be a Device, not 'rtl'; give Device\("rtl"\)"""),
    ({"sampling": {}}, "sampling must be a Sampling, not a dict"),
    ({"every": 0}, "every must be a whole number, at least 1, not 0"),
    ({"every": 1.5}, r"every must be a whole number, at least 1, not 1\.5"),
    ({"every": True}, "not True"), ({"every": None}, "not None"),
    ({"recording": 2}, r"recording must be a Recording, not 2; give Recording\(step=1\)"),
    ({"run": 3}, "run must be a path, not 3; give a str"),
    ({"run": ""}, "run must be a path, not ''"),
    ({"run": b"run"}, "run must be a path, not b'run'; give a str"),
    ({"run": "a\0b"}, r"run must be a path, not 'a\\x00b'"),
    ({"run": __file__}, "is no folder; give another path"),
    ({"run": f"{__file__}/run"}, "is no folder; give another path"),
    ({"progress": "yes"}, "progress must be callable"),
    ({"epochs": 0}, r"\[recipe\] epochs must be 1 to"),
    ({"epochs": 1.0}, r"\[recipe\] epochs must be a whole number"),
    ({"epochs": np.float64(3)}, r"\[recipe\] epochs must be a whole number"),
    ({"every": np.array([2, 3])}, "every must be a whole number, at least 1, not a ndarray"),
    ({"check": "no"}, "check must be True or False, not 'no'"),
    ({"resume": 1}, "resume must be True or False, not 1"),
    ({"momentum": float("nan")}, r"\[recipe\] momentum must be"),
    ({"schedule": ((3, -1.0),)}, r"schedule has factor -1\.0 from epoch 3 on"),
    ({"learning_rate": "0.1"}, r"\[recipe\] learning_rate must be a number"),
    ({"learning_rate": 1e12}, r"learning rate 1e\+12 gives optimiser constant"),
    ({"patience": 0}, r"\[stopping\] patience must be at least 1"),
    ({"colour": 1}, r"\[recipe\] has no colour"),
])
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        Trainer(**{"graph": KARATE, **arguments})


@pytest.mark.parametrize(("kind", "arguments", "message"), [
    (Model, {"hidden": "16"}, r"\[model\] hidden must be a whole number"),
    (Model, {"weights": ""}, r"\[model\] weights is empty"),
    (Device, {"name": 3}, r"\[device\] name must be a text"),
    (Device, {"name": "serial@0"}, "is of 0 baud"),
    (Recording, {"step": 0}, "step must be a whole number"),
    (Recording, {"step": "2"}, "step must be a whole number, at least 1, not '2'"),
    (Recording, {"step": np.float64(2)}, "step must be a whole number"),
    (Recording, {"waves": "a.vcd"}, r"waves must be a Waves, not 'a\.vcd'; give Waves\(file="),
    (Sampling, {"sampler": "neighbours", "fan_outs": (1 << 31,)}, "1 to 2147483647"),
    (Sampling, {"sampler": "walks", "coverage": float("inf")}, "coverage must be 0.001 to"),
])
def test_other_objects(kind, arguments, message):
    with pytest.raises(ValueError, match=message):
        kind(**arguments)


def test_scalars_of_numpy_train_the_bits_of_plain_numbers(tmp_path):
    plain = {"every": 2, "check": True, "resume": False, "patience": 2,
             "monitor": "validation_loss", "epochs": 3, "learning_rate": 0.25, "seed": 1}
    scalars = {"every": np.int64(2), "check": np.bool_(True), "resume": np.array(False),
               "patience": np.uint8(2),
               "monitor": np.str_("validation_loss"), "epochs": np.int32(3),
               "learning_rate": np.float32(0.25), "seed": np.array(1)}
    # What is no plain value, or of ``Description`` and tested there.
    others = {"self", "graph", "model", "device", "sampling", "run", "recording",
              "transport", "boards", "progress", "recipe"}
    assert inspect.signature(Trainer.__init__).parameters.keys() <= plain.keys() | others
    assert Recording(step=np.array(9)) == Recording(step=9)
    texts = []
    for number, arguments in enumerate((plain, scalars)):
        folder = tmp_path / str(number)
        with Trainer(KARATE, Model(hidden=4), run=folder, **arguments) as trainer:
            trainer.fit()
        texts.append([(folder / name).read_bytes()
                      for name in ("run.toml", "epochs.jsonl", "checkpoint.safetensors")])
    assert texts[0] == texts[1]
