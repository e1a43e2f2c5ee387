import numpy as np
import pytest

from hypercast import Device, Graph, Model, Sampling, Trainer

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
    ({"record_step": 0}, "record_step must be a whole number"),
    ({"record_step": "2"}, "record_step must be a whole number, at least 1, not '2'"),
    ({"run": 3}, "run must be the path of a folder, not 3"),
    ({"run": ""}, "run must be the path of a folder, not ''"),
    ({"progress": "yes"}, "progress must be callable"),
    ({"epochs": 0}, r"\[recipe\] epochs must be 1 to"),
    ({"epochs": 1.0}, r"\[recipe\] epochs must be a whole number"),
    ({"epochs": np.int64(3)}, r"\[recipe\] epochs must be a whole number"),
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
    (Sampling, {"sampler": "neighbours", "fan_outs": (1 << 31,)}, "from 1 to 2147483647"),
    (Sampling, {"sampler": "walks", "coverage": float("inf")}, "coverage must be 0.001 to"),
])
def test_other_objects(kind, arguments, message):
    with pytest.raises(ValueError, match=message):
        kind(**arguments)
