# SPDX-License-Identifier: BSD-2-Clause
"""Parameters may be given as scalars and arrays of NumPy, and are kept as plain values."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from hypercast import Device, Model, Sampling
from hypercast.host.description.conversion import DescriptionError, check
from hypercast.host.description.description import Description, load_description
from hypercast.host.description.recipe import RECIPE_HINTS, make_recipe
from hypercast.host.description.sampling import SAMPLERS
from hypercast.host.description.source import Source
from hypercast.host.description.stopping import Stopping
from hypercast.rtl.config import PRESETS, Config

#: Values that half-precision numbers hold, too, and what has to be given with them. Parameters
#: that are not listed are given their default.
MODEL = {"name": "sage", "layers": 2, "hidden": (8, 8), "alpha": 0.25, "theta": 0.5,
         "order": ("combine_first",), "weights": "w.safetensors", "dropout": (0.5, 0.25)}
RECIPE = {"learning_rate": (0.5, 0.25), "bias_learning_rate": (0.5,), "weight_decay": (0.5, 0.0),
          "schedule": ((3, 0.5), (5, 0.25)), "headroom": 1, "feature_headroom": -1,
          "gradient_headroom": 2, "momentum": 0.5, "betas": (0.5, 0.75), "epsilon": 0.125,
          "gin_epsilon": 0.5}
SAMPLING = {"sampler": "walks", "batch": 8, "fan_outs": (3, 2), "walk": 3, "coverage": 0.5,
            "parts": 3}
SOURCE = {"source": "karate", "split": (50.0, 25.0, 25.0), "split_seed": 3}
STOPPING = {"patience": 3, "monitor": "validation_accuracy"}
WITH = {**{key: {"name": "gcnii"} for key in ("alpha", "theta")},
        **{key: {"optimiser": "adam"} for key in ("betas", "epsilon")},
        "split_seed": {"split": (50, 25, 25)}, "monitor": {"patience": 1},
        "gin_epsilon": {"normalisation": "sum"},
        **{key: {"sampler": name} for name, keys in SAMPLERS.items() for key in keys}}
CONFIG = {field.name: field.default for field in dataclasses.fields(Config)}


def recipe_of(**values):
    return Description(recipe=make_recipe(values, Model(), PRESETS["demo"]))


def described(section, kind):
    return lambda **values: Description(**{section: kind(**values)})


def parameters(kind, given):
    return {field.name: given.get(field.name, field.default) for field in dataclasses.fields(kind)}


def cases():
    """What makes a description, the parameter, a plain value, and what goes with it."""
    for section, make, values in (
            ("model", described("model", Model), parameters(Model, MODEL)),
            ("sampling", described("sampling", Sampling), parameters(Sampling, SAMPLING)),
            ("stopping", described("stopping", Stopping), parameters(Stopping, STOPPING)),
            ("graph", described("graph", Source), parameters(Source, SOURCE)),
            ("device", described("device", Device), {
                "name": "reference", "preset": "tiny", "evaluate_on": "device", "elements": 8,
                **CONFIG}),
            ("recipe", recipe_of, {
                key: RECIPE[key] if key in RECIPE else
                getattr(make_recipe({}, Model(), PRESETS["demo"]), key) for key in RECIPE_HINTS})):
        for key, value in values.items():
            extra = {"source": "karate"} if section == "graph" else {}
            yield pytest.param(make, key, value, {**extra, **WITH.get(key, {})},
                               id=f"{section}.{key}")


CASES = list(cases())


def forms(value):
    """The forms of a plain value in NumPy."""
    if isinstance(value, tuple):
        yield list(value)
        inner = [list(forms(one)) for one in value]
        for number in range(min(map(len, inner), default=0)):
            yield [one[number] for one in inner]
        if value and len({type(one) for one in value}) == 1 and not isinstance(value[0], tuple):
            yield np.array(value)
            if len(value) == 1:
                yield from forms(value[0])
        return
    kinds = {bool: [np.bool_], int: [np.int64, np.int32], str: [np.str_],
             float: [np.float64, np.float32, np.float16, np.longdouble]}
    for kind in kinds[type(value)]:
        form = kind(value)
        yield form
        yield np.array(form)


def exact(value):
    """A value with the types in it."""
    if isinstance(value, dict):
        return {key: exact(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return type(value), [exact(one) for one in value]
    return type(value), value


@pytest.mark.parametrize(("make", "key", "value", "extra"), CASES)
def test_a_parameter_of_numpy_is_the_plain_one(make, key, value, extra):
    assert value is not None
    plain = make(**{**extra, key: value})
    for form in forms(value):
        found = make(**{**extra, key: form})
        assert found == plain, form
        assert exact(found.sections()) == exact(plain.sections()), form
        assert json.dumps(found.sections()) == json.dumps(plain.sections())
        assert found.text() == plain.text()
        assert found.device.config.hash == plain.device.config.hash


@pytest.mark.parametrize(("make", "key", "value", "extra"), CASES)
def test_a_repr_is_the_call_on_one_line(make, key, value, extra):
    found = make(**{**extra, key: value})
    for section in ("model", "sampling", "stopping", "graph", "device"):
        part = getattr(found, section)
        assert eval(repr(part)) == part and "\n" not in repr(part)
    assert repr(Model()) == "Model(name='gcn')"


@pytest.mark.parametrize(("make", "key", "value", "extra"), CASES)
def test_what_is_no_such_value_is_refused_in_one_line(make, key, value, extra):
    single = value[0] if isinstance(value, tuple) and value else value
    wrong = [np.zeros((20, 5, 5)), object(), 1j, {}]
    if not isinstance(value, tuple):
        wrong += [np.array([value] * 2), [value], np.array([])]
    if isinstance(single, float):
        wrong += [float("nan"), np.float32("nan"), np.array(np.nan), "0.5", True]
    elif not isinstance(single, str):
        wrong += ["3", np.str_("3"), np.float64(1.5), np.array(np.nan)]
    for one in wrong:
        with pytest.raises(DescriptionError) as refusal:
            make(**{**extra, key: one})
        assert "\n" not in str(refusal.value) and refusal.value.key == key, one
        assert len(str(refusal.value)) < 400


def test_a_file_has_plain_values(tmp_path: Path):
    found = Description(model=Model(np.str_("gcn"), dropout=np.float32(0.1), hidden=np.array([8])),
                        graph=Source(source=np.str_("karate"), split=np.array([50, 25, 25])),
                        recipe=recipe_of(epochs=np.int64(3), learning_rate=np.float32(0.1)).recipe)
    (tmp_path / "run.toml").write_text(found.text())
    assert load_description(tmp_path / "run.toml") == found
    assert found.model.dropout == (float(np.float32(0.1)),)


def test_the_sampler_may_come_first():
    assert Sampling("neighbours", batch=8) == Sampling(sampler="neighbours", batch=8)


def test_a_generator_is_refused():
    with pytest.raises(DescriptionError, match=r"\[model\] hidden must be a whole number, or a"):
        Model(hidden=(one for one in (8, 8)))


def test_unknown_keys_name_the_nearest():
    with pytest.raises(DescriptionError, match=r"\[model\] has no layrs; did you mean layers\?"):
        check("model", {"layrs": 1}, {"layers": int})
